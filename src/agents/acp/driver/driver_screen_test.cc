#include "acp/testing/fakes.h"

#include <gtest/gtest.h>

// Attaching to an agent's own screen, and what is typed there.
namespace dormouse::acp {
namespace {

using namespace session;
using testing::FakeLoop;
using testing::FakePort;
using testing::FakeProcesses;

constexpr auto by_default = R"({"loadSession":true,"sessionCapabilities":{"resume":{}}})";

class ScreenTest : public ::testing::Test {
protected:
    static Settings settings(FakePort& http) {
        Settings out;
        out.agent = "fake";
        out.argv = {"/bin/opencode"};
        out.password_variable = "PASSWORD";
        out.folder = [](std::string const& cwd) -> Result<std::string> {
            if (cwd == "/etc") return fail(Code::bad_value, "cwd is outside of the agent's roots");
            return cwd.empty() ? "/srv" : cwd;
        };
        out.random = [] { return std::string("s3cr3t-word"); };
        out.attach_command = {"/bin/opencode", "attach"};
        out.free_port = [] { return std::uint16_t{4'711}; };
        out.http = &http;
        return out;
    }
    void attach(std::string const& acp_session = "s1", bool has_past = true) {
        port::TerminalRequest ask{
            session, "fake", acp_session, cwd, "default", has_past, [this](Command::Body body) {
                take(std::move(body));
            }};
        agents->open_terminal(std::move(ask), [this](Result<port::AttachInfo> entry) {
            entry ? add("open") : add("closed:" + std::string(info(entry.error().code).text));
            if (entry) attached = *std::move(entry);
            if (!entry) why = entry.error().detail;
        });
        loop.run();
    }
    void prompt() {
        port::ModelRequest request;
        request.session = session;
        request.ask = {1, 1, 1, 9, 0, true};
        request.id = {101, 0};
        request.external = AgentContext{"s1", cwd, 0, false, {}};
        agents->prompt(
            std::move(request), {}, [](port::Delta const&) {},
            [this](Command::Body body) { take(std::move(body)); });
        loop.run();
    }
    void take(Command::Body body) {
        if (auto const* c = std::get_if<AgentTyped>(&body)) {
            std::string text;
            json::View(c->parts).elements(
                [&](json::View part) { text += part["text"].string_or(""); });
            add("typed" + std::to_string(c->at) + ":" + text);
            if (!c->answer.is_null()) add("answer:" + std::string(c->answer.text()));
        } else if (auto const* c = std::get_if<AgentReport>(&body)) {
            add("output" + std::to_string(c->number) + (c->by_itself ? ":by_itself" : ""));
        } else if (auto const* c = std::get_if<AgentAttach>(&body)) {
            add("attach:" + c->how + ":" + std::to_string(c->turn));
        } else if (std::get_if<AgentReply>(&body)) {
            add("reply");
        } else if (auto const* c = std::get_if<AgentFailure>(&body)) {
            add("failed:" + c->error.code);
        }
    }
    void add(std::string const& word) { events += (events.empty() ? "" : " ") + word; }
    std::string taken() { return std::exchange(events, {}); }
    void ready(std::string const& capabilities = by_default) {
        processes.answer("initialize",
                         R"({"protocolVersion":1,"agentCapabilities":)" + capabilities + "}");
    }
    void woken() {
        attach();
        ready();
        processes.answer("session/resume", "{}");
        http.answer("[]");
        EXPECT_EQ(taken(), "open");
    }
    static std::string user(std::int64_t at, std::string const& text,
                            std::string const& more = "") {
        return R"({"info":{"role":"user","time":{"created":)" + std::to_string(at) +
               R"(}},"parts":[{"type":"text","text":")" + text + "\"" + more + "}]}";
    }
    void chunk(std::string const& text) {
        processes.say(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1",)"
                      R"("update":{"sessionUpdate":"agent_message_chunk","content":)"
                      R"({"type":"text","text":")" +
                      text + "\"}}}}");
    }
    void asks() {
        processes.say(R"({"jsonrpc":"2.0","id":77,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"t1"},)"
                      R"("options":[{"optionId":"b","kind":"allow_once"}]}})");
    }
    std::string last_line() { return processes.newest().lines.back(); }

    SessionId session = SessionId::make(7, {1});
    std::string cwd = "/srv/app";
    FakeLoop loop;
    FakeProcesses processes;
    FakePort http;
    Settings own = settings(http);
    std::unique_ptr<ExternalAgents> agents = std::make_unique<ExternalAgents>(own, processes, loop);
    port::AttachInfo attached;
    std::string events, why;
};

TEST_F(ScreenTest, Attach_NoProcess_StartsItWithoutPrompt) {
    attach();
    ready();
    EXPECT_EQ(taken(), "");
    processes.answer("session/resume", "{}");
    EXPECT_EQ(taken(), "open");
    EXPECT_EQ(processes.methods(), "initialize session/resume");
    EXPECT_EQ(attached.url, "http://127.0.0.1:4711");
    EXPECT_EQ(attached.command,
              (std::vector<std::string>{"/bin/opencode", "attach", "http://127.0.0.1:4711",
                                        "--session", "s1", "--dir", "/srv/app"}));
    EXPECT_EQ(attached.password, "s3cr3t-word");
    EXPECT_EQ(attached.lease, Duration(20'000));
    attach();
    EXPECT_EQ(taken(), "open") << "the process runs already";
    EXPECT_EQ(processes.all.size(), 1U);
}

TEST_F(ScreenTest, Lease_IsRenewedByAttach_ProcessEndsAfterIt) {
    woken();
    for (int i = 0; i < 100; ++i) {
        loop.pass(Duration(10'000));
        attach();
        while (http.waiting() > 0) http.answer("[]");
    }
    EXPECT_FALSE(processes.newest().end_requested);
    loop.pass(Duration(20'000));
    loop.pass(own.idle_stop);
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(ScreenTest, TypedText_IsReportedOnceBeforeTheAnswer) {
    woken();
    chunk("hi ");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "") << "the answer waits for the typed text";
    chunk("there");
    loop.pass(Duration(2'000));
    auto const& sent = http.all.back().request;
    EXPECT_EQ(sent.url, "http://127.0.0.1:4711/session/s1/message?limit=50&directory=%2Fsrv%2Fapp");
    EXPECT_EQ(sent.headers.at(0).value, "Basic b3BlbmNvZGU6czNjcjN0LXdvcmQ=");
    std::string const list = "[" + user(7, "hello") + "]";
    http.answer(list);
    EXPECT_EQ(taken(), "typed7:hello output0:by_itself");
    http.answer(list);
    EXPECT_EQ(taken(), "output0:by_itself");
    EXPECT_EQ(http.waiting(), 0U);
}

TEST_F(ScreenTest, OwnPromptsAndSyntheticText_AreNotTyped) {
    woken();
    attach();
    std::string const marker = "<!-- " + marker_of(session, 1, 1) + "1 -->";
    http.answer("[" + user(9, "later") + "," + user(5, "ours " + marker) + "," +
                user(6, "made up", R"(,"synthetic":true)") + "," + user(0, "no time") + "," +
                R"({"info":{"role":"assistant","time":{"created":7}},"parts":[{"type":"text",)"
                R"("text":"x"}]},{"info":{"role":"user","time":{"created":8}},"parts":[)"
                R"({"type":"file","filename":"a.png","url":"data:,"}]}])");
    EXPECT_EQ(taken(), "open typed8:[a.png] typed9:later");
}

TEST_F(ScreenTest, FailedReading_DelaysNothing) {
    woken();
    chunk("hi");
    loop.pass(Duration(2'000));
    http.break_off();
    EXPECT_EQ(taken(), "output0:by_itself");
    chunk("hi");
    loop.pass(Duration(2'000));
    http.answer("nonsense", 401);
    EXPECT_EQ(taken(), "output0:by_itself");
    chunk("hi");
    loop.pass(Duration(2'000));
    processes.die();
    EXPECT_EQ(taken(), "output0:by_itself") << "it died first";
}

TEST_F(ScreenTest, UpdateAfterAnswer_MayAnswerTypedText) {
    prompt();
    ready();
    processes.answer("session/resume", "{}");
    http.answer("[]");
    processes.answer("session/prompt", "{}");
    attach();
    http.answer("[]");
    EXPECT_EQ(taken(), "attach:resume:1 reply open");
    chunk("quick");
    loop.pass(Duration(1'000));
    http.answer("[" + user(7, "hello") + "]");
    EXPECT_EQ(taken(), "typed7:hello output0");
}

TEST_F(ScreenTest, LeaseEnd_ReadsLastTypedText) {
    woken();
    loop.pass(Duration(20'000));
    http.answer("[" + user(7, "bye") + "]");
    EXPECT_EQ(taken(), "typed7:bye");
}

TEST_F(ScreenTest, TypedBeforeDeath_IsReadWithNextPrompt) {
    prompt();
    ready();
    processes.answer("session/resume", "{}");
    http.answer("[" + user(7, "before") + "]");
    EXPECT_EQ(taken(), "attach:resume:1 typed7:before");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), "reply");
}

TEST_F(ScreenTest, TypedWhileServerWasDown_ComesWithAnswer) {
    prompt();
    ready();
    processes.answer("session/resume", "{}");
    std::string const before = R"({"info":{"id":"m1","role":"user","time":{"created":7}},)"
                               R"("parts":[{"type":"text","text":"before"}]})";
    std::string const answer =
        R"({"info":{"id":"m2","parentID":"m1","role":"assistant","time":{"completed":9}},)"
        R"("parts":[{"type":"reasoning","text":"hm"},{"type":"text","text":"done"}]})";
    http.answer("[" + before + "," + answer + "]");
    EXPECT_EQ(taken(), R"(attach:resume:1 typed7:before answer:[{"type":"text","text":"done"}])");
    processes.answer("session/prompt", "{}");
    (void)taken();
    loop.pass(Duration(1'000));
    chunk("by myself");
    loop.pass(Duration(2'000));
    std::string const later = R"({"info":{"id":"m3","role":"user","time":{"created":20}},)"
                              R"("parts":[{"type":"text","text":"live"}]})";
    std::string const reply = R"({"info":{"id":"m4","parentID":"m3","role":"assistant",)"
                              R"("time":{"completed":22}},"parts":[{"type":"text","text":"x"}]})";
    http.answer("[" + later + "," + reply + "]");
    EXPECT_EQ(taken(), "typed20:live output0:by_itself") << "ACP reports later answers";
}

TEST_F(ScreenTest, Prompt_DuringAttach_SharesTheProcess) {
    attach();
    prompt();
    ready();
    processes.answer("session/resume", "{}");
    EXPECT_EQ(taken(), "open attach:resume:1");
    attach();
    EXPECT_EQ(taken(), "open") << "in the middle of the prompt";
    EXPECT_EQ(processes.methods(), "initialize session/resume session/prompt");
}

TEST_F(ScreenTest, Attach_NoAgentSession_OpensOneUnlessThereIsAPast) {
    attach("", false);
    ready();
    processes.answer("session/new", R"({"sessionId":"s9"})");
    EXPECT_EQ(taken(), "attach:new:0 open");
    session = SessionId::make(8, {1});
    attach("", true);
    ready();
    EXPECT_EQ(taken(), "closed:not_ready");
    EXPECT_EQ(processes.methods(), "initialize");
    loop.pass(own.idle_stop);
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(ScreenTest, Attach_SessionLost_NeedsPrompt) {
    attach();
    ready();
    processes.refuse("session/resume", -32002, "session not found");
    EXPECT_EQ(taken(), "closed:not_ready");
    prompt();
    processes.refuse("session/resume", -32002, "session not found");
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:1");
}

TEST_F(ScreenTest, Attach_Fails_ReportsReason) {
    cwd = "/etc";
    attach();
    EXPECT_EQ(taken(), "closed:agent_unavailable");
    EXPECT_NE(why.find("outside"), std::string::npos);
    cwd = "/srv";
    attach();
    processes.die("no licence");
    loop.run();
    EXPECT_EQ(taken(), "closed:agent_unavailable");
    EXPECT_NE(why.find("no licence"), std::string::npos) << why;
    attach();
    loop.pass(own.start_limit);
    EXPECT_TRUE(processes.newest().end_requested) << "it takes too long";
    processes.die();
    EXPECT_EQ(taken(), "closed:agent_unavailable");
    EXPECT_NE(why.find("not ready in"), std::string::npos) << why;
}

TEST_F(ScreenTest, AttachRequests_FolderRefused_AreAllAnswered) {
    woken();
    loop.pass(Duration(20'000));
    loop.pass(own.idle_stop);
    ASSERT_TRUE(processes.newest().end_requested);
    cwd = "/etc";
    attach();
    attach();
    processes.die();
    loop.run();
    EXPECT_EQ(taken(), "closed:agent_unavailable closed:agent_unavailable");
}

TEST_F(ScreenTest, Attach_ProcessEnding_WaitsForTheNextOne) {
    woken();
    loop.pass(Duration(20'000));
    loop.pass(own.idle_stop);
    ASSERT_TRUE(processes.newest().end_requested);
    attach();
    EXPECT_EQ(taken(), "");
    processes.die();
    loop.run();
    ASSERT_EQ(processes.all.size(), 2U);
    ready();
    processes.answer("session/resume", "{}");
    EXPECT_EQ(taken(), "open");
}

TEST_F(ScreenTest, Attached_PermissionIsLeftToScreen) {
    woken();
    asks();
    EXPECT_EQ(last_line().find(R"("id":77)"), std::string::npos);
    loop.pass(Duration(20'000));
    EXPECT_NE(last_line().find(R"("id":77,"result":{"outcome":{"outcome":"cancelled"}})"),
              std::string::npos)
        << last_line();
    asks();
    EXPECT_NE(last_line().find("cancelled"), std::string::npos) << "no terminal is attached";
}

TEST_F(ScreenTest, CancelDuringStart_NextPromptIsServed) {
    prompt();
    agents->stop(session, {101, 0});
    ready();
    EXPECT_EQ(processes.methods(), "initialize");
    prompt();
    EXPECT_EQ(processes.methods(), "initialize session/resume");
}

TEST_F(ScreenTest, Attach_WithoutScreenOrSandbox_IsRefused) {
    own.attach_command.clear();
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    attach();
    EXPECT_EQ(taken(), "closed:wrong_kind");
    own = settings(http);
    own.only_project = "other";
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    attach();
    EXPECT_EQ(taken(), "closed:agent_unavailable");
    EXPECT_TRUE(processes.all.empty());
}

}  // namespace
}  // namespace dormouse::acp
