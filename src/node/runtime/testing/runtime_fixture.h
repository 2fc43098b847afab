#pragma once
// A runtime for tests: one agent with a script, tools that pause, a store in memory or in a
// directory.

#include <dormouse/dormouse.h>

#include <gtest/gtest.h>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

namespace dormouse::runtime {

struct Work {
    std::string target;
};
struct Outcome {
    std::string status;
};

class RuntimeTest : public testing::Test {
protected:
    RuntimeTest() {
        script.on("job").calls("job", input("A"));
        script.on("twice").calls("job", input("A")).calls("job", input("B"));
        script.on("mixed").calls("now", input("A")).calls("job", input("B"));
        script.on("ask").calls("ask", input("A"));
        script.on("guarded").calls("guarded", input("A"));
        script.on("steps").calls("guarded_job", input("A"));
        script.when_waiting("job").says("It waits.");
        script.otherwise().says("Done.");
        settings.agents = {{.name = "ops",
                            .model = script.model(),
                            .tools = {"job", "now", "ask", "guarded", "guarded_job"}}};
        settings.tools = {job, now, ask, guarded, guarded_job};
        settings.gates = {guard};
    }
    ~RuntimeTest() override {
        runtime.reset();
        if (settings.store != ":memory:") std::filesystem::remove_all(settings.store);
    }

    static Json input(std::string target) { return to_json(Work{std::move(target)}).value(); }
    static Json output(std::string status) { return to_json(Outcome{std::move(status)}).value(); }

    // Opens the runtime as a new process would.
    void open() {
        runtime.reset();
        auto opened = Runtime::open(settings);
        ASSERT_TRUE(opened) << opened.error().detail;
        runtime.emplace(*std::move(opened));
    }
    void on_disk() {
        auto const info = testing::UnitTest::GetInstance()->current_test_info();
        settings.store = std::filesystem::temp_directory_path() /
                         ("dormouse-" + std::string(info->name()) + std::to_string(::getpid()));
    }
    // Creates a session and waits until it is idle.
    SessionView start(std::string prompt) {
        auto const session = runtime->create({.agent = "ops", .prompt = std::move(prompt)});
        EXPECT_TRUE(session) << session.error().detail;
        return at_rest(*session);
    }
    SessionView at_rest(SessionId session) {
        auto view = runtime->wait_idle(session, Duration(20'000));
        EXPECT_TRUE(view) << view.error().detail;
        return *view;
    }
    std::size_t count(SessionId session, std::string_view type) {
        std::size_t found = 0;
        auto const all_of_them = runtime->events(session).value();
        for (Event const& event : all_of_them) found += event.type == type;
        return found;
    }

    std::atomic<int> job_runs = 0, guarded_runs = 0;
    std::optional<Duration> within;
    TypedTool<Work, Outcome> job =
        tool("job", [this](Work const& work) -> dormouse::Outcome<Outcome, Pending> {
            ++job_runs;
            return Pending<Outcome>{{"queued"}, {.ref = "job-" + work.target, .within = within}};
        });
    TypedTool<Work, Outcome> now =
        tool("now", [](Work const& work) { return Outcome{work.target}; });
    TypedTool<Work, Outcome> ask =
        tool("ask", [](Work const& work) -> dormouse::Outcome<Outcome, NeedInput> {
            return NeedInput<Outcome>{{"asked"}, "Which " + work.target + "?"};
        });
    TypedTool<Work, Outcome> guarded = tool("guarded", [this](Work const&) {
        ++guarded_runs;
        return Outcome{"ran"};
    });
    TypedTool<Work, Outcome> guarded_job =
        tool("guarded_job", [this](Work const&) -> dormouse::Outcome<Outcome, Pending> {
            ++job_runs;
            return Pending<Outcome>{{"queued"}, {.ref = "job-after"}};
        });
    Gate guard{.name = "guard",
               .decide = [](Call const&) -> GateDecision { return Ask{"Really?"}; },
               .tools = {"guarded*"}};
    Script script;
    Settings settings{.store = ":memory:"};
    std::optional<Runtime> runtime;
};

inline std::string code_of(auto const& result) {
    return result ? "" : std::string(info(result.error().code).text);
}

}  // namespace dormouse::runtime
