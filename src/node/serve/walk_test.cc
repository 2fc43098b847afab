#include <dormouse/dormouse.h>

#include "base/test_wait.h"
#include "base/trace.h"
#include "serve/testing/http_request.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>

// ARCHITECTURE.md follows one late result through files and functions. This test checks that path.
#ifndef NDEBUG
namespace dormouse::serve {
namespace {

using Step = std::pair<std::string, std::string>;  // file below src/, function

struct Trace {
    std::mutex mutex;
    std::vector<Step> steps;  // each once, in the order in which they were first reached
};

Trace& seen() {
    static Trace trace;
    return trace;
}

// "void dormouse::runner::Lane::receive(Incoming, Reply)" -> "Lane::receive"
std::string name_of(std::string const& function) {
    static std::regex const unnamed(R"(\(anonymous namespace\)::|\{anonymous\}::)");
    std::string name = std::regex_replace(function, unnamed, "");
    name = name.substr(0, name.find('('));
    name = name.substr(name.rfind(' ') + 1);
    static std::regex const spaces("^([a-z_]+::)+");
    return std::regex_replace(name, spaces, "");
}

void note(char const* file, char const* function) {
    std::string const path = file;
    Step step{path.substr(path.rfind("src/") + 4), name_of(function)};
    std::scoped_lock const lock(seen().mutex);
    auto& steps = seen().steps;
    if (std::ranges::find(steps, step) == steps.end()) steps.push_back(std::move(step));
}

std::vector<Step> steps() {
    std::scoped_lock const lock(seen().mutex);
    return seen().steps;
}

std::vector<Step> documented() {
    std::ifstream file(DORMOUSE_ARCHITECTURE);
    std::stringstream all;
    all << file.rdbuf();
    std::string text = all.str();
    auto const begin = text.find("## One late result");
    text = text.substr(begin, text.find("## Layers") - begin);
    static std::regex const pair(R"(`([a-z/_]+\.cc)`\s+`([A-Za-z_:]+)`)");
    std::vector<Step> out;
    for (std::sregex_iterator at(text.begin(), text.end(), pair), end; at != end; ++at) {
        Step step{(*at)[1], (*at)[2]};
        if (std::ranges::find(out, step) == out.end()) out.push_back(std::move(step));
    }
    return out;
}

std::string lines(std::vector<Step> const& steps) {
    std::string out;
    for (auto const& [file, function] : steps) out += file + " " + function + "\n";
    return out;
}

struct Deploy {
    std::string target;
};

class WalkTest : public ::testing::Test {
protected:
    WalkTest() {
        store = std::filesystem::temp_directory_path() /
                ("dormouse-walk-" + std::to_string(::getpid()));
        script.on("deploy").calls("deploy", to_json(Deploy{"api"}).value());
        script.otherwise().says("Done.");
    }
    ~WalkTest() override {
        trace_sink = nullptr;
        runtime.reset();
        std::filesystem::remove_all(store);
    }
    void open() {
        runtime.reset();
        Settings settings{.store = store,
                          .agents = {{.name = "ops", .model = script.model(), .tools = {"deploy"}}},
                          .tools = {deploy}};
        auto opened = Runtime::open(std::move(settings));
        ASSERT_TRUE(opened) << opened.error().detail;
        runtime.emplace(*std::move(opened));
    }

    std::string store;
    std::string const token = "a-token-of-this-program";
    Script script;
    TypedTool<Deploy, Deploy> deploy = tool(
        "deploy",
        [](Deploy const&) -> Outcome<Deploy, Pending> { return Pending<Deploy>{{"queued"}, {}}; });
    std::optional<Runtime> runtime;
};

TEST_F(WalkTest, OneLateResult_TakesTheDocumentedPath) {
    open();
    auto const session = runtime->create({.agent = "ops", .prompt = "deploy"}).value();
    auto const pending = runtime->wait_idle(session, Duration(20'000)).value().pending.at(0).id;
    open();  // as a new process would find it
    auto const url = runtime->serve({.listen = "127.0.0.1:0", .token = token}).value();
    trace_sink = note;
    auto const answer = testing::exchange(
        url, "POST", "/async-tool/result",
        R"({"pendingID":")" + pending.text() + R"(","result":{"output":{"target":"api"}}})", token);
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::string const expected = lines(documented());
    EXPECT_GT(expected.size(), 100U);
    wait_while([&] { return lines(steps()) != expected; });  // effects leave after the reply
    EXPECT_EQ(lines(steps()), expected);
    std::set<std::string> files;
    for (auto const& [file, function] : steps()) files.insert(file);
    EXPECT_LE(files.size(), 15U);
}

}  // namespace
}  // namespace dormouse::serve
#endif
