#include <dormouse/dormouse.h>
#include "base/test_wait.h"

#include "serve/testing/http_request.h"
#include "serve/testing/receiver.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <thread>

// The HTTP interface of a Runtime.
namespace dormouse::serve {
namespace {

using testing::exchange;

struct Work {
    std::string target;
};
struct Deployment {
    std::string status;
};

class ServeTest : public ::testing::Test {
protected:
    ServeTest() {
        auto const info = ::testing::UnitTest::GetInstance()->current_test_info();
        store = std::filesystem::temp_directory_path() /
                ("dormouse-serve-" + std::string(info->name()) + std::to_string(::getpid()));
        script.on("deploy").calls("deploy", to_json(Work{"api"}).value());
        script.when_waiting("deploy").says("It waits.");
        script.otherwise().says("Done.");
    }
    ~ServeTest() override {
        runtime.reset();
        std::filesystem::remove_all(store);
    }
    Settings settings() {
        return {.store = store,
                .agents = {{.name = "ops", .model = script.model(), .tools = {"deploy"}}},
                .tools = {deploy}};
    }
    void open() {
        runtime.reset();
        auto opened = Runtime::open(settings());
        ASSERT_TRUE(opened) << opened.error().detail;
        runtime.emplace(*std::move(opened));
    }
    void serve() {
        open();
        auto address = runtime->serve(
            {.listen = "127.0.0.1:0", .token = token, .webhook_hosts = {"127.0.0.1"}});
        ASSERT_TRUE(address) << address.error().detail;
        url = *address;
    }
    testing::Answer ask(std::string const& method, std::string const& path,
                        std::string const& body = "") {
        return exchange(url, method, path, body, token);
    }
    PendingCall waiting() {
        auto const session = runtime->create({.agent = "ops", .prompt = "deploy"}).value();
        return runtime->wait_idle(session, Duration(20'000)).value().pending.at(0);
    }

    std::string store;
    std::string const token = "a-token-of-this-program";
    std::string url;
    std::string callback;
    std::string hook;
    Script script;
    TypedTool<Work, Deployment> deploy =
        tool("deploy", [this](Work const&, Call const& call) -> Outcome<Deployment, Pending> {
            callback = call.callback_url();
            return Pending<Deployment>{{"queued"}, {.ref = "job-1", .webhook_url = hook}};
        });
    std::optional<Runtime> runtime;
};

TEST_F(ServeTest, SessionsOfTheProgram_AreVisibleOverHttp) {
    serve();
    auto const call = waiting();
    auto const listed = ask("GET", "/async-tool/pending");
    EXPECT_EQ(listed.status, 200);
    EXPECT_TRUE(listed.body.contains(call.id.text())) << listed.body;
    auto const result =
        ask("POST", "/async-tool/result",
            R"({"pendingID":")" + call.id.text() + R"(","result":{"output":{"status":"live"}}})");
    EXPECT_EQ(result.status, 200) << result.body;
    EXPECT_EQ(runtime->wait_idle(call.id.session, Duration(20'000))->pending.size(), 0U);
    EXPECT_EQ(runtime->last_reply(call.id.session).value(), "Done.");
    // The same receipt through the library.
    EXPECT_TRUE(runtime->submit(deploy, call.id, {"live"})->duplicate);
}

TEST_F(ServeTest, RequestsWithoutTheToken_AreRefused) {
    serve();
    EXPECT_EQ(exchange(url, "GET", "/async-tool/pending", "", "").status, 401);
    EXPECT_EQ(exchange(url, "GET", "/async-tool/pending", "", "another-token-than-ours").status,
              401);
    EXPECT_EQ(exchange(url, "GET", "/healthz", "", "").status, 200);
}

TEST_F(ServeTest, SessionMadeOverHttp_IsVisibleToTheProgram) {
    serve();
    auto const made = ask("POST", "/api/projects/default/sessions",
                          R"({"agentID":"ops","prompt":{"text":"hello"}})");
    ASSERT_EQ(made.status, 201) << made.body;
    auto const at = made.body.find("ses_");
    auto const session = SessionId::parse(made.body.substr(at, 26));
    ASSERT_TRUE(session) << made.body;
    EXPECT_TRUE(runtime->wait_idle(*session, Duration(20'000)));
    EXPECT_EQ(runtime->last_reply(*session).value(), "Done.");
}

TEST_F(ServeTest, CallbackUrl_WithoutAToken_AcceptsTheResult) {
    serve();
    auto const call = waiting();
    ASSERT_TRUE(callback.starts_with(url + "/c/cap_")) << callback;
    std::string const path = callback.substr(url.size());
    serve();  // a new address with the same store, which keeps the key
    auto const taken =
        exchange(url, "POST", path, R"({"result":{"output":{"status":"live"}}})", "");
    EXPECT_EQ(taken.status, 200) << taken.body;
    EXPECT_EQ(runtime->wait_idle(call.id.session, Duration(20'000))->pending.size(), 0U);
    std::string forged = path;
    forged.back() = forged.back() == 'A' ? 'B' : 'A';
    EXPECT_GE(exchange(url, "POST", forged, R"({"error":"no"})", "").status, 400);
}

TEST_F(ServeTest, Links_UseThePublicUrl) {
    open();
    ASSERT_TRUE(runtime->serve(
        {.listen = "127.0.0.1:0", .token = token, .public_url = "https://agents.example.org/dm/"}));
    waiting();
    EXPECT_TRUE(callback.starts_with("https://agents.example.org/dm/c/cap_")) << callback;
}

// The tool's validator also checks a result that comes over HTTP.
TEST_F(ServeTest, EndOfACall_NotifiesItsWebhook) {
    testing::Receiver receiver;
    hook = receiver.url() + "/done";
    serve();
    auto const call = waiting();
    EXPECT_TRUE(runtime->submit(deploy, call.id, {"live"}));
    std::string const request = receiver.next();
    EXPECT_TRUE(request.starts_with("POST /done ")) << request;
    EXPECT_TRUE(request.contains("\r\nwebhook-id: dlv_")) << request;
    EXPECT_TRUE(request.contains(call.id.text())) << request;
    EXPECT_TRUE(request.contains(R"("status":"live")")) << request;

    auto const second = waiting();
    receiver.refuse();
    EXPECT_TRUE(runtime->submit(deploy, second.id, {"live"}));
    EXPECT_TRUE(receiver.next().contains(second.id.text()));
    serve();  // the receiver did not accept it, so it is sent again
    EXPECT_TRUE(receiver.next().contains(second.id.text()));
}

TEST_F(ServeTest, Validator_ChecksResultsOverHttp) {
    deploy = tool("deploy",
                  [](Work const&) -> Outcome<Deployment, Pending> {
                      return Pending<Deployment>{{"queued"}, {.ref = "job-1"}};
                  },
                  {.validate = [](Deployment const& value) -> std::optional<std::string> {
                      if (value.status == "live") return std::nullopt;
                      return "status must be live";
                  }});
    serve();
    auto const call = waiting();
    auto const submit = [&](std::string const& status) {
        return ask("POST", "/async-tool/result",
                   R"({"pendingID":")" + call.id.text() + R"(","result":{"output":{"status":")" +
                       status + R"("}}})");
    };
    auto const refused = submit("dead");
    EXPECT_EQ(refused.status, 422) << refused.body;
    EXPECT_TRUE(refused.body.contains("status must be live")) << refused.body;
    EXPECT_EQ(submit("live").status, 200);
}

// The value of a sample of /metrics; empty: not found.
std::string sample(std::string const& text, std::string const& name) {
    auto const at = text.find("\n" + name + " ");
    if (at == std::string::npos) return {};
    auto const begin = at + name.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
}

TEST_F(ServeTest, Metrics_CountWhatSessionsDo) {
    serve();
    auto const call = waiting();
    EXPECT_TRUE(runtime->submit(deploy, call.id, {"live"}));
    EXPECT_FALSE(runtime->submit(deploy, call.id, {"dead"}));
    ASSERT_TRUE(runtime->wait_idle(call.id.session, Duration(20'000)));
    std::string const text = ask("GET", "/metrics").body;
    EXPECT_EQ(sample(text, R"(dormouse_effects_started_total{kind="tool"})"), "1") << text;
    EXPECT_NE(sample(text, R"(dormouse_effects_started_total{kind="model"})"), "0");
    EXPECT_EQ(sample(text, R"(dormouse_tool_attempts_total{tool="deploy",outcome="paused"})"), "1");
    EXPECT_EQ(sample(text, R"(dormouse_calls_paused_total{reason="tool_result"})"), "1");
    EXPECT_EQ(sample(text, R"(dormouse_calls_settled_total{status="completed"})"), "1");
    EXPECT_EQ(sample(text, R"(dormouse_submissions_total{outcome="applied"})"), "1");
    EXPECT_EQ(sample(text, R"(dormouse_submissions_total{outcome="conflict"})"), "1");
    EXPECT_GE(std::stoi("0" + sample(text, "dormouse_appends_total")), 4);
    EXPECT_EQ(sample(text, "dormouse_commit_appends_sum"), sample(text, "dormouse_appends_total"));
    EXPECT_TRUE(text.contains("dormouse_model_requests_running{model="));
    EXPECT_TRUE(text.contains("dormouse_resume_seconds_count 1"));
}

TEST_F(ServeTest, NoToken_UsesTheStoresToken) {
    open();
    auto const address = runtime->serve({.listen = "127.0.0.1:0"});
    ASSERT_TRUE(address) << address.error().detail;
    std::ifstream in(store + "/token");
    std::string kept;
    std::getline(in, kept);
    ASSERT_FALSE(kept.empty());
    EXPECT_EQ(exchange(*address, "GET", "/async-tool/pending", "", kept).status, 200);
    EXPECT_EQ(exchange(*address, "GET", "/async-tool/pending", "", "").status, 401);
}

TEST_F(ServeTest, WrongSettings_AreReportedAndNothingListens) {
    open();
    auto const code = [&](ServeSettings settings) {
        auto const address = runtime->serve(std::move(settings));
        return address ? "" : std::string(info(address.error().code).text);
    };
    EXPECT_EQ(code({.listen = "here", .token = token}), "bad_value");
    EXPECT_EQ(code({.listen = "127.0.0.1:99999", .token = token}), "bad_value");
    EXPECT_EQ(code({.listen = "0.0.0.0:0", .token = token}), "forbidden");
    EXPECT_EQ(code({.listen = "127.0.0.1:0", .token = "short"}), "bad_value");
    EXPECT_EQ(code({.listen = "127.0.0.1:0", .token = "with a space in it, though long"}),
              "bad_value");
    EXPECT_EQ(code({.listen = "127.0.0.1:0", .token = token, .public_url = "example.org"}),
              "bad_value");
    EXPECT_EQ(code({.listen = "127.0.0.1:0", .token = token}), "");
    EXPECT_EQ(code({.listen = "127.0.0.1:0", .token = token}), "conflict") << "once";
}

TEST_F(ServeTest, AddressInUse_IsReportedAndAnotherWorks) {
    serve();
    std::string const taken = url.substr(url.find("://") + 3);
    Runtime other =
        *Runtime::open({.store = ":memory:", .agents = {{.name = "ops", .model = script.model()}}});
    EXPECT_FALSE(other.serve({.listen = taken, .token = token}));
    EXPECT_TRUE(other.serve({.listen = "127.0.0.1:0", .token = token}));
}

TEST_F(ServeTest, SecondProcessOnTheStore_NamesTheOwner) {
    serve();
    auto const second = Runtime::open(settings());
    ASSERT_FALSE(second);
    EXPECT_TRUE(second.error().detail.contains("in use by pid " + std::to_string(::getpid())))
        << second.error().detail;
}

TEST_F(ServeTest, EndOfTheRuntime_EndsTheServer) {
    serve();
    std::jthread const reader([this] { ask("GET", "/api/events?project=default"); });
    wait_while([&] { return ask("GET", "/healthz").status != 200; });
    runtime.reset();
    EXPECT_EQ(exchange(url, "GET", "/healthz", "", "").status, 0);
}

}  // namespace
}  // namespace dormouse::serve
