// Tests what an agent is sent after the agent or its session was lost.
#include "acp/testing/driver_fixture.h"

namespace dormouse::acp {
namespace {

using namespace session;

using testing::DriverTest;

TEST_F(DriverTest, Death_ReportsStderrWithoutSecrets) {
    prompt();
    attach();
    chunk("I was");
    processes.die("a\nbad key s3cr3t-value\n");
    EXPECT_EQ(taken(), "attach:new:s1 output1 died:agent_crashed");
    EXPECT_EQ(why, "it was ended by signal 9: a / bad key ***");
}

TEST_F(DriverTest, Death_WithAStackTrace_NamesTheErrorAndNotTheFrames) {
    prompt();
    attach();
    processes.die(
        "line 1\nBunInstallFailedError: no network\n  at run (src/a.ts:1:2)\n"
        "      at run2 (src/b.ts:3:4)\n\nBun v1.3.14 (Linux)\n");
    EXPECT_EQ(why,
              "it was ended by signal 9: line 1 / BunInstallFailedError: no network / "
              "Bun v1.3.14 (Linux)");
}

TEST_F(DriverTest, Start_ProgramWithoutAcp_ReportsWhatItWrote) {
    prompt();
    processes.say("usage: git [-v | --version]");
    processes.newest().done({port::ProcessEnd::How::exited, 1, {}, "", {}});
    EXPECT_EQ(why,
              "it ended with status 1, and wrote a line that is not an ACP message: "
              "usage: git [-v | --version]");
}

TEST_F(DriverTest, AfterDeath_ReplayShowsWhetherPromptWasDelivered) {
    prompt();
    attach();
    processes.die();
    loop.run();
    prompt("hello", 2);
    ready();
    EXPECT_EQ(processes.methods(), "initialize session/load");
    chunk("before <!-- " + marker_of(session, 1, 1) + "1 -->", "user_message_chunk");
    chunk("an old answer");
    processes.answer("session/load", "null");
    EXPECT_EQ(taken(), "attach:new:s1 died:agent_crashed attach:load:s1");
    EXPECT_EQ(streamed, "");
    EXPECT_EQ(prompted().find("hello"), std::string::npos);
    EXPECT_NE(prompted().find("Continue where you stopped"), std::string::npos);
    EXPECT_NE(prompted().find(marker_of(session, 1, 1) + "2"), std::string::npos);
}

TEST_F(DriverTest, PromptNotInReplay_IsSentAgainUnchanged) {
    prompt();
    attach();
    processes.die();
    loop.run();
    prompt("hello", 2);
    ready();
    chunk("something else " + marker_of(session, 1, 1) + "22", "user_message_chunk");
    processes.answer("session/load", "{}");
    EXPECT_NE(prompted().find("hello"), std::string::npos);
    EXPECT_EQ(prompted().find("connection was lost"), std::string::npos);
}

TEST_F(DriverTest, NoReplay_PromptSaysThatDeliveryIsUnknown) {
    prompt();
    attach();
    processes.die();
    loop.run();
    prompt("hello", 2);
    ready(R"({"sessionCapabilities":{"resume":{}}})");
    processes.answer("session/resume", "{}");
    EXPECT_NE(prompted().find("You may have started"), std::string::npos);
    EXPECT_NE(prompted().find("hello"), std::string::npos);
}

TEST_F(DriverTest, Repeat_NamesLostCallsAndDecisions) {
    context.acp_session = "s1";
    context.turn.prompt_received = true;
    context.turn.lost = {"rm -rf x"};
    context.turn.permissions = {{1, 5, 1, 1, "t1", "acp:execute", {}, true},
                                {2, 6, 1, 2, "t2", "acp:execute", {}, true}};
    context.turn.permissions[1].may_be_used = true;
    prompt("hello", 2);
    ready(R"({"loadSession":true,"sessionCapabilities":{"resume":{}}})");
    EXPECT_EQ(processes.methods(), "initialize session/load");
    chunk("hello <!-- " + marker_of(session, 1, 1) + "1 -->", "user_message_chunk");
    processes.answer("session/load", "{}");
    EXPECT_NE(prompted().find("rm -rf x"), std::string::npos);
    EXPECT_NE(prompted().find("You may now do what you had asked for (acp:execute, call t1)"),
              std::string::npos);
    EXPECT_NE(prompted().find("(acp:execute, call t2) may have run already"), std::string::npos);
}

TEST_F(DriverTest, StartedPrompt_NotRemembered_NewSessionWithPast) {
    context.acp_session = "s1";
    context.turn.prompt_received = true;
    context.seen = 5;
    past = {message_of(ViewMessage::Role::user, "first", 3),
            message_of(ViewMessage::Role::assistant, "answer", 4)};
    prompt("hello", 2);
    ready(R"({"loadSession":true,"sessionCapabilities":{"resume":{}}})");
    chunk("first", "user_message_chunk");
    processes.answer("session/load", "{}");
    EXPECT_EQ(processes.methods(), "initialize session/load session/new");
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:with_history");
    EXPECT_NE(prompted().find("user: first"), std::string::npos);
    EXPECT_NE(prompted().find("hello"), std::string::npos);
    EXPECT_NE(prompted().find("do not repeat finished work"), std::string::npos);
}

TEST_F(DriverTest, StartedPrompt_NoReplay_IsRepeatedWithWarning) {
    context.acp_session = "s1";
    context.turn.prompt_received = true;
    prompt("hello", 2);
    ready(R"({"sessionCapabilities":{"resume":{}}})");
    processes.answer("session/resume", "{}");
    EXPECT_NE(prompted().find("while you worked on the message below. Continue where you "
                              "stopped; do not repeat finished work."),
              std::string::npos)
        << prompted();
    EXPECT_NE(prompted().find("hello"), std::string::npos);
}

TEST_F(DriverTest, SecondRepeat_DoesNotMentionLostConnectionAgain) {
    context.acp_session = "s1";
    context.turn.prompt_received = true;
    prompt("hello", 3);
    ready();
    chunk("hello <!-- " + marker_of(session, 1, 1) + "1 -->", "user_message_chunk");
    chunk("[lost] <!-- " + marker_of(session, 1, 1) + "2 -->", "user_message_chunk");
    processes.answer("session/load", "{}");
    EXPECT_EQ(prompted().find("connection was lost"), std::string::npos);
    EXPECT_NE(prompted().find("[Continue.]"), std::string::npos);
}

TEST_F(DriverTest, ReadySession_UnknownToPrompt_IsLoadedAgain) {
    prompt();
    attach();
    processes.refuse("session/prompt", -32603, "Session not found");
    EXPECT_EQ(taken(), "attach:new:s1 died:agent_lost_session");
    prompt("hello", 2);
    EXPECT_EQ(processes.all.size(), 1U);
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/load");
}

TEST_F(DriverTest, Prompt_ServiceFails_TurnEndsSessionStays) {
    prompt();
    attach();
    processes.say(R"({"jsonrpc":"2.0","id":)" + processes.id_of("session/prompt") +
                  R"(,"error":{"code":-32603,"message":"Internal error: Cannot connect to API, )"
                  R"(model not found","data":{"service":"session"}}})");
    EXPECT_EQ(taken(), "attach:new:s1 refused:agent_refused");
    EXPECT_FALSE(processes.newest().end_requested);
    prompt("again");
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/prompt");
}

TEST_F(DriverTest, NoLoadOrResume_NewSessionGetsPast) {
    context.acp_session = "old";
    past = {message_of(ViewMessage::Role::user, "first", 3),
            message_of(ViewMessage::Role::assistant, "answer", 4)};
    context.seen = 5;
    prompt("second");
    ready("{}");
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:with_history");
    EXPECT_NE(prompted().find(R"(user: first\n\nassistant: answer\n\nContinue from here.)"),
              std::string::npos)
        << prompted();
    processes.answer("session/prompt", "{}");
    prompt("third");
    EXPECT_EQ(prompted().find("Previous conversation"), std::string::npos);
}

TEST_F(DriverTest, LongPast_OnlyNewestIsSent) {
    own.past_bytes = 60;
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    past = {message_of(ViewMessage::Role::user, "the oldest of all messages, and long", 3),
            message_of(ViewMessage::Role::assistant, "the newest answer", 4)};
    context.seen = 5;
    prompt("second");
    attach();
    EXPECT_EQ(prompted().find("oldest"), std::string::npos);
    EXPECT_NE(prompted().find("the newest answer"), std::string::npos);
    EXPECT_NE(prompted().find("earlier messages are left out"), std::string::npos);
}

TEST_F(DriverTest, LostSession_IsReplacedAndReported) {
    for (std::string const message : {"Resource not found", "Session not found: x"}) {
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
        context.acp_session = "old";
        past = {message_of(ViewMessage::Role::user, "first", 3)};
        context.seen = 5;
        prompt("second");
        ready();
        processes.refuse("session/load", -32603, message);
        processes.answer("session/new", R"({"sessionId":"s2"})");
        EXPECT_EQ(taken(), "attach:new:s2:with_history") << message;
    }
}

TEST_F(DriverTest, LoadFails_OtherError_NoNewSession) {
    context.acp_session = "old";
    prompt();
    ready();
    processes.refuse("session/load", -32603, "disk full");
    EXPECT_EQ(taken(), "refused:agent_refused");
    EXPECT_NE(why.find("disk full"), std::string::npos);
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(DriverTest, Gemini_LoadIsNeverRequested) {
    context.acp_session = "old";
    prompt();
    processes.answer("initialize",
                     R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true},)"
                     R"("agentInfo":{"name":"gemini-cli"}})");
    EXPECT_EQ(processes.methods(), "initialize session/new");
}

}  // namespace
}  // namespace dormouse::acp
