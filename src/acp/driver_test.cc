#include "acp/testing/driver_fixture.h"

namespace dormouse::acp {
namespace {

using namespace session;

using testing::DriverTest;

constexpr auto usual_options =
    R"([{"optionId":"a","kind":"allow_always"},{"optionId":"b","kind":"allow_once"},)"
    R"({"optionId":"c","kind":"reject_once"}])";

TEST_F(DriverTest, APromptGoesThroughTheHandshakeAndItsAnswerComesBack) {
    prompt();
    attach();
    EXPECT_EQ(taken(), "attach:new:s1");
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt");
    EXPECT_NE(prompted().find("hello"), std::string::npos);
    EXPECT_NE(prompted().find("<!-- " + marker_of(session, 1, 1) + "1 -->"), std::string::npos);
    chunk("Hi ");
    chunk("there");
    EXPECT_EQ(streamed, "Hi there");
    processes.answer("session/prompt", R"({"stopReason":"end_turn"})");
    EXPECT_EQ(taken(), R"(reply:stop:0:[{"type":"text","text":"Hi there"}])");
}

TEST_F(DriverTest, TheProcessGetsItsFolderItsEnvironmentAndOurServer) {
    context.cwd = "/src";
    prompt();
    auto const& spec = processes.newest().spec;
    EXPECT_EQ(spec.cwd, "/src");
    EXPECT_EQ(spec.environment, (std::vector<std::string>{"KEY=s3cr3t-value", "PASSWORD=random"}));
    ready();
    EXPECT_NE(last_line().find(R"("cwd":"/src","mcpServers":[{"name":"dormouse","command":)"
                               R"("/bin/dm","args":["mcp"],"env":[{"name":"A","value":"b"}]}])"),
              std::string::npos)
        << last_line();
}

TEST_F(DriverTest, AFolderThatMayNotBeStartsNothing) {
    context.cwd = "/etc";
    prompt();
    EXPECT_EQ(taken(), "refused:agent_refused");
    EXPECT_TRUE(processes.all.empty());
}

TEST_F(DriverTest, ASecondPromptGoesToTheSameProcess) {
    prompt();
    attach();
    processes.answer("session/prompt", R"({"stopReason":"max_tokens"})");
    EXPECT_EQ(taken(), "attach:new:s1 reply:length:0");
    prompt("more");
    EXPECT_EQ(processes.all.size(), 1U);
    EXPECT_NE(prompted().find("more"), std::string::npos);
}

TEST_F(DriverTest, TextIsKeptEveryTwoSecondsAndAToolAtOnce) {
    prompt();
    attach();
    (void)taken();
    chunk("slow");
    EXPECT_EQ(taken(), "");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "news1");
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t","status":"pending"})");
    EXPECT_EQ(taken(), "news2");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), "reply:stop:2");
}

TEST_F(DriverTest, WhatComesAMomentAfterTheAnswerBelongsToItAndLaterStandsByItself) {
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    (void)taken();
    chunk("late");
    loop.pass(Duration(1'000));
    EXPECT_EQ(taken(), "news0");
    chunk("much later");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "news0:by_itself");
    loop.pass(Duration(600'000));
    EXPECT_FALSE(processes.newest().asked_to_end) << "it did something";
    loop.pass(Duration(600'000));
    EXPECT_TRUE(processes.newest().asked_to_end);
}

TEST_F(DriverTest, TooManyUpdatesAreFoldedAndNothingThatIsFinishedIsLost) {
    prompt();
    attach();
    (void)taken();
    for (int i = 0; i < 1'500; ++i) chunk("x");
    EXPECT_EQ(streamed, std::string(1'000, 'x'));
    for (int i = 0; i < 100; ++i)
        update(R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress",)"
               R"("title":")" +
               std::to_string(i) + "\"}");
    update(R"({"sessionUpdate":"plan","entries":[]})");
    update(R"({"sessionUpdate":"plan","entries":[1]})");
    EXPECT_EQ(taken(), "news1 news2") << "the text, and that there is a tool call";
    EXPECT_EQ(streamed, std::string(1'500, 'x'));
    update(R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"})");
    EXPECT_EQ(taken(), "news3 news4") << "the newest plan, and its end";
    chunk("y");
    EXPECT_EQ(streamed, std::string(1'500, 'x'));
    loop.pass(Duration(1'000));
    EXPECT_EQ(streamed, std::string(1'500, 'x') + "y");
    chunk("z");
    EXPECT_EQ(streamed, std::string(1'500, 'x') + "yz");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), R"(reply:stop:4:[{"type":"text","text":"yz"}])");
}

TEST_F(DriverTest, UpdatesOfOtherSessionsAndUnknownRequestsChangeNothing) {
    prompt();
    attach();
    (void)taken();
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t"})", "s2");
    processes.say(R"({"id":5,"method":"fs/write_text_file","params":{"path":"/etc/x"}})");
    EXPECT_NE(last_line().find("-32601"), std::string::npos);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, ADeathIsToldWithItsLastWordsAndWithoutSecrets) {
    prompt();
    attach();
    chunk("I was");
    processes.die("a\nbad key s3cr3t-value\n");
    EXPECT_EQ(taken(), "attach:new:s1 news1 died:agent_crashed");
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

TEST_F(DriverTest, Start_OfAProgramThatSpeaksNoAcp_ShowsWhatItWrote) {
    prompt();
    processes.say("usage: git [-v | --version]");
    processes.newest().done({port::ProcessEnd::How::exited, 1, {}, "", {}});
    EXPECT_EQ(why,
              "it ended with status 1, and wrote what is no message of ACP: "
              "usage: git [-v | --version]");
}

TEST_F(DriverTest, AfterADeathTheReplayTellsWhetherThePromptWasDelivered) {
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
    EXPECT_NE(prompted().find("Go on where you were"), std::string::npos);
    EXPECT_NE(prompted().find(marker_of(session, 1, 1) + "2"), std::string::npos);
}

TEST_F(DriverTest, WhatIsNotInTheReplayIsSentAgainAsItWas) {
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

TEST_F(DriverTest, WithoutAReplayNobodyKnowsAndThePromptSaysSo) {
    prompt();
    attach();
    processes.die();
    loop.run();
    prompt("hello", 2);
    ready(R"({"sessionCapabilities":{"resume":{}}})");
    processes.answer("session/resume", "{}");
    EXPECT_NE(prompted().find("You may have begun"), std::string::npos);
    EXPECT_NE(prompted().find("hello"), std::string::npos);
}

TEST_F(DriverTest, WhatWasLostAndWhatWasDecidedIsTold) {
    context.acp_session = "s1";
    context.turn.heard = true;
    context.turn.lost = {"rm -rf x"};
    context.turn.verdicts = {{1, 5, 1, 1, "t1", "acp:execute", {}, true},
                             {2, 6, 1, 2, "t2", "acp:execute", {}, true}};
    context.turn.verdicts[1].told = true;
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

TEST_F(DriverTest, HeardPrompt_ThatTheProgramDoesNotRemember_GoesToANewSessionWithThePast) {
    context.acp_session = "s1";
    context.turn.heard = true;
    context.seen = 5;
    past = {message_of(ViewMessage::Role::user, "first", 3),
            message_of(ViewMessage::Role::assistant, "answer", 4)};
    prompt("hello", 2);
    ready(R"({"loadSession":true,"sessionCapabilities":{"resume":{}}})");
    chunk("first", "user_message_chunk");
    processes.answer("session/load", "{}");
    EXPECT_EQ(processes.methods(), "initialize session/load session/new");
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:told");
    EXPECT_NE(prompted().find("user: first"), std::string::npos);
    EXPECT_NE(prompted().find("hello"), std::string::npos);
    EXPECT_NE(prompted().find("what is done already must not be done again"), std::string::npos);
}

TEST_F(DriverTest, HeardPrompt_WithoutAReplay_IsRepeatedWithTheWarningThatItWasBegun) {
    context.acp_session = "s1";
    context.turn.heard = true;
    prompt("hello", 2);
    ready(R"({"sessionCapabilities":{"resume":{}}})");
    processes.answer("session/resume", "{}");
    EXPECT_NE(prompted().find("while you worked on the message below. Go on where you were; what "
                              "is done already must not be done again."),
              std::string::npos)
        << prompted();
    EXPECT_NE(prompted().find("hello"), std::string::npos);
}

TEST_F(DriverTest, SecondRepeat_IsNotToldOfTheLostConnectionAgain) {
    context.acp_session = "s1";
    context.turn.heard = true;
    prompt("hello", 3);
    ready();
    chunk("hello <!-- " + marker_of(session, 1, 1) + "1 -->", "user_message_chunk");
    chunk("[lost] <!-- " + marker_of(session, 1, 1) + "2 -->", "user_message_chunk");
    processes.answer("session/load", "{}");
    EXPECT_EQ(prompted().find("connection was lost"), std::string::npos);
    EXPECT_NE(prompted().find("[Go on.]"), std::string::npos);
}

TEST_F(DriverTest, ReadySession_ThatThePromptFindsUnknown_IsNotPromptedAgain) {
    prompt();
    attach();
    processes.refuse("session/prompt", -32603, "Session not found");
    EXPECT_EQ(taken(), "attach:new:s1 died:agent_lost_session");
    prompt("hello", 2);
    EXPECT_EQ(processes.all.size(), 1U);
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/load");
}

TEST_F(DriverTest, Prompt_RefusedForAServiceThatFails_EndsTheTurnAndKeepsTheSession) {
    prompt();
    attach();
    processes.say(R"({"jsonrpc":"2.0","id":)" + processes.id_of("session/prompt") +
                  R"(,"error":{"code":-32603,"message":"Internal error: Cannot connect to API, )"
                  R"(model not found","data":{"service":"session"}}})");
    EXPECT_EQ(taken(), "attach:new:s1 refused:agent_refused");
    EXPECT_FALSE(processes.newest().asked_to_end);
    prompt("again");
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/prompt");
}

TEST_F(DriverTest, OneThatCanTakeUpNothingIsToldThePast) {
    context.acp_session = "old";
    past = {message_of(ViewMessage::Role::user, "first", 3),
            message_of(ViewMessage::Role::assistant, "answer", 4)};
    context.seen = 5;
    prompt("second");
    ready("{}");
    processes.answer("session/new", R"({"sessionId":"s2"})");
    EXPECT_EQ(taken(), "attach:new:s2:told");
    EXPECT_NE(prompted().find(R"(user: first\n\nassistant: answer\n\nContinue from here.)"),
              std::string::npos)
        << prompted();
    processes.answer("session/prompt", "{}");
    prompt("third");
    EXPECT_EQ(prompted().find("Previous conversation"), std::string::npos);
}

TEST_F(DriverTest, OfALongPastTheNewestIsTold) {
    own.past_bytes = 60;
    programs = std::make_unique<Programs>(own, processes, loop);
    past = {message_of(ViewMessage::Role::user, "the oldest of all messages, and long", 3),
            message_of(ViewMessage::Role::assistant, "the newest answer", 4)};
    context.seen = 5;
    prompt("second");
    attach();
    EXPECT_EQ(prompted().find("oldest"), std::string::npos);
    EXPECT_NE(prompted().find("the newest answer"), std::string::npos);
    EXPECT_NE(prompted().find("earlier messages are left out"), std::string::npos);
}

TEST_F(DriverTest, ASessionThatTheAgentLostIsANewOneAndSaidToBe) {
    for (std::string const message : {"Resource not found", "Session not found: x"}) {
        programs = std::make_unique<Programs>(own, processes, loop);
        context.acp_session = "old";
        past = {message_of(ViewMessage::Role::user, "first", 3)};
        context.seen = 5;
        prompt("second");
        ready();
        processes.refuse("session/load", -32603, message);
        processes.answer("session/new", R"({"sessionId":"s2"})");
        EXPECT_EQ(taken(), "attach:new:s2:told") << message;
    }
}

TEST_F(DriverTest, AnotherRefusalToLoadIsNoReasonForANewSession) {
    context.acp_session = "old";
    prompt();
    ready();
    processes.refuse("session/load", -32603, "disk full");
    EXPECT_EQ(taken(), "refused:agent_refused");
    EXPECT_NE(why.find("disk full"), std::string::npos);
    EXPECT_TRUE(processes.newest().asked_to_end);
}

TEST_F(DriverTest, TheLoadOfGeminiIsNeverAskedFor) {
    context.acp_session = "old";
    prompt();
    processes.answer("initialize",
                     R"({"protocolVersion":1,"agentCapabilities":{"loadSession":true},)"
                     R"("agentInfo":{"name":"gemini-cli"}})");
    EXPECT_EQ(processes.methods(), "initialize session/new");
}

TEST_F(DriverTest, AMissingLoginNamesTheKeysThatWereNotPassed) {
    prompt();
    attach();
    processes.refuse("session/prompt", -32000, "Authentication required");
    EXPECT_EQ(taken(), "attach:new:s1 refused:agent_login");
    EXPECT_NE(why.find("OTHER_KEY"), std::string::npos);
}

TEST_F(DriverTest, AnotherVersionOfTheProtocolIsRefused) {
    prompt();
    processes.answer("initialize", R"({"protocolVersion":2})");
    EXPECT_EQ(taken(), "refused:agent_refused");
    EXPECT_NE(why.find("version 2"), std::string::npos);
}

TEST_F(DriverTest, APermissionIsAskedForAndAnsweredByKind) {
    prompt();
    attach();
    (void)taken();
    asks(usual_options);
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"a":1})");
    programs->tell(session, {2, 1, true, false});  // of another attempt
    EXPECT_EQ(last_line().find("outcome"), std::string::npos);
    programs->tell(session, {1, 1, true, false});
    EXPECT_NE(
        last_line().find(R"("id":77,"result":{"outcome":{"outcome":"selected","optionId":"b"}})"),
        std::string::npos);
    asks(usual_options);
    programs->tell(session, {1, 2, false, false});
    EXPECT_NE(last_line().find(R"("optionId":"c")"), std::string::npos);
    asks(R"([{"optionId":"a","kind":"allow_always"}])");
    programs->tell(session, {1, 3, false, false});
    EXPECT_NE(last_line().find(R"({"outcome":"cancelled"})"), std::string::npos);
}

// As Gemini asks: nothing but what it shows.
TEST_F(DriverTest, Permission_WithoutInput_IsAskedForWithWhatItShows) {
    prompt();
    attach();
    (void)taken();
    auto const ask = [&](std::string const& call) {
        processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"t1",)" +
                      call + "},\"options\":[]}}");
    };
    ask(R"("kind":"execute","title":"echo harmless","content":[],"locations":[])");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"kind":"execute","title":"echo harmless"})");
    EXPECT_FALSE(last_ask.vague);
    Sha256 const harmless = last_ask.spec.input_digest;
    ask(R"("kind":"execute","title":"echo EVIL","content":[],"locations":[])");
    (void)taken();
    EXPECT_NE(last_ask.spec.input_digest, harmless);
    ask(R"("kind":"edit","title":"a.c","content":[{"type":"diff","path":"a.c"}],"rawInput":{})");
    EXPECT_EQ(taken(), R"(ask3:acp:edit:{"kind":"edit","title":"a.c",)"
                       R"("content":[{"type":"diff","path":"a.c"}]})");
    EXPECT_FALSE(last_ask.vague);
    ask(R"("kind":"execute","title":"bash","rawInput":{})");
    EXPECT_EQ(taken(), R"(ask4:acp:execute:{"kind":"execute","title":"bash"})");
    EXPECT_TRUE(last_ask.vague) << "the name of the tool says nothing of the command";
    ask(R"("kind":"execute")");
    EXPECT_EQ(taken(), "ask5:acp:execute:null");
    EXPECT_TRUE(last_ask.vague);
}

TEST_F(DriverTest, Permission_WithoutInput_ShowsWhatTheToolCallSaidBefore) {
    prompt();
    attach();
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t1","status":"pending",)"
           R"("rawInput":{"command":"ls"}})");
    (void)taken();
    processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                  R"({"sessionId":"s1","toolCall":{"toolCallId":"t1","kind":"execute",)"
                  R"("title":"bash","rawInput":{}},"options":[]}})");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"kind":"execute","title":"bash",)"
                       R"("input":{"command":"ls"}})");
    EXPECT_TRUE(last_ask.vague);
}

// As Codex asks: its input names the call, and has other names after a restart.
TEST_F(DriverTest, Permission_WhoseInputNamesItsCall_IsDecidedOnWithoutThoseNames) {
    prompt();
    attach();
    (void)taken();
    auto const ask = [&](std::string const& input) {
        processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"c7","kind":"execute",)"
                      R"("rawInput":)" +
                      input + "},\"options\":[]}}");
    };
    ask(R"({"call_id":"c7","turn_id":"2","started_at_ms":5,"command":["ls"],"cwd":"/w"})");
    EXPECT_EQ(taken(), R"(ask1:acp:execute:{"command":["ls"],"cwd":"/w"})");
    ask(R"({"call_id":"another","turn_id":"2"})");
    EXPECT_EQ(taken(), R"(ask2:acp:execute:{"call_id":"another","turn_id":"2"})")
        << "an argument of that name";
}

TEST_F(DriverTest, Permission_ForAToolOfOurOwnServer_NamesIt) {
    prompt();
    attach();
    (void)taken();
    auto const own = [&](std::string const& call, std::string const& options) {
        processes.say(R"({"jsonrpc":"2.0","id":9,"method":"session/request_permission","params":)"
                      R"({"sessionId":"s1","toolCall":{"toolCallId":"t1",)" +
                      call + "},\"options\":[" + options + "]}}");
        return last_ask.own;
    };
    std::string const of_mcp =
        R"({"optionId":"proceed_always_server","kind":"allow_always","name":"Always Allow x"})";
    EXPECT_EQ(own(R"("_meta":{"claudeCode":{"toolName":"mcp__dormouse__deploy"}})", ""),
              "mcp__dormouse__deploy");
    EXPECT_EQ(own(R"("name":"mcp__dormouse__inbox")", ""), "mcp__dormouse__inbox");
    EXPECT_EQ(own(R"x("title":"deploy (dormouse MCP Server)")x", of_mcp),
              "deploy (dormouse MCP Server)");
    EXPECT_EQ(own(R"x("title":"deploy (dormouse MCP Server)","kind":"execute")x", ""), "")
        << "a command with that description";
    EXPECT_EQ(own(R"x("title":"x (dormouse MCP Server) (evil MCP Server)")x", of_mcp), "");
    EXPECT_EQ(own(R"x("title":"rm -rf / (dormouse MCP Server)")x", of_mcp), "");
    EXPECT_EQ(own(R"("title":"mcp__dormouse__deploy")", ""), "") << "models write titles";
    EXPECT_EQ(own(R"("name":"mcp__dormouse2__deploy")", ""), "");
    EXPECT_EQ(own(R"("name":"mcp__dormouse__")", ""), "") << "no tool";
}

TEST_F(DriverTest, Permissions_BeyondThoseThatMayBeOpen_AreCancelledAtOnce) {
    prompt();
    attach();
    for (int i = 0; i < 64; ++i) asks(usual_options);
    (void)taken();
    EXPECT_EQ(last_line().find("outcome"), std::string::npos);
    asks(usual_options);
    EXPECT_EQ(taken(), "");
    EXPECT_NE(last_line().find(R"({"outcome":"cancelled"})"), std::string::npos);
}

TEST_F(DriverTest, CancelledPrompt_WhoseProgramGoesOnTalking_KeepsItsLastWords) {
    prompt();
    attach();
    chunk("half");
    programs->stop(session, {101, 0});
    (void)taken();
    chunk(" a word");
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_EQ(taken(), "news0");
    loop.pass(Duration(3'000));
    chunk("[Request interrupted by user]");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "news0") << "it belongs to the turn that was cancelled";
    loop.pass(Duration(20'000));
    chunk("by myself");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "news0:by_itself");
}

TEST_F(DriverTest, AnswerThatEndsAfterItsResponse_IsKeptWhenTheNextPromptIsQuick) {
    prompt();
    attach();
    chunk("REPLY ");
    processes.answer("session/prompt", "{}");
    (void)taken();
    chunk("TOKEN-1");
    prompt("next", 2);
    EXPECT_EQ(taken(), "news0");
}

TEST_F(DriverTest, WaitingPrompt_WhoseTurnIsCancelled_IsNotSent) {
    prompt();
    attach();
    programs->stop(session, {101, 0});
    prompt("next", 2);  // waits for the answer
    programs->stop(session, {102, 0});
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/cancel");
}

TEST_F(DriverTest, PresetMode_IsSetWhereTheSessionHasIt) {
    own.mode = "default";
    own.mode_of_preset = true;
    for (bool const there : {true, false}) {
        programs = std::make_unique<Programs>(own, processes, loop);
        context = {};
        prompt();
        ready();
        std::string const mode = there ? "default" : "ask";
        processes.answer("session/new",
                         R"({"sessionId":"s1","modes":{"currentModeId":"auto","availableModes":[)"
                         R"({"id":"auto"},{"id":")" +
                             mode + "\"}]}}");
        if (there) processes.answer("session/set_mode", "{}");
        EXPECT_EQ(attached_mode, there ? "default" : "auto");
        EXPECT_NE(prompted().find("hello"), std::string::npos);
    }
}

TEST_F(DriverTest, ACancelTakesQuestionsBackAndWaitsForTheAnswer) {
    prompt();
    attach();
    asks(usual_options);
    (void)taken();
    programs->stop(session, {101, 0});
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/cancel");
    prompt("next", 2);  // waits for the answer
    EXPECT_EQ(prompted().find("next"), std::string::npos);
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_NE(prompted().find("next"), std::string::npos);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, OneThatDoesNotStopIsEnded) {
    prompt();
    attach();
    programs->stop(session, {101, 0});
    prompt("next");
    loop.pass(Duration(10'000));
    ASSERT_TRUE(processes.newest().asked_to_end);
    (void)taken();
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, OneThatIsNotReadyInTimeIsEnded) {
    prompt();
    loop.pass(Duration(90'000));
    EXPECT_TRUE(processes.newest().asked_to_end);
    processes.die();
    EXPECT_EQ(taken(), "died:agent_crashed");
    EXPECT_NE(why.find("not ready in 90 s"), std::string::npos);
}

TEST_F(DriverTest, AnIdleOneIsPutAwayAndStartedAgain) {
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    loop.pass(Duration(599'000));
    EXPECT_FALSE(processes.newest().asked_to_end);
    loop.pass(Duration(1'000));
    EXPECT_TRUE(processes.newest().asked_to_end);
    (void)taken();
    prompt("again");  // before it has ended: never two processes on one session
    EXPECT_EQ(processes.all.size(), 1U);
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, AnIdleOneGivesWayAndOneThatIsPromptedDoesNot) {
    context.project = "team";
    prompt();
    EXPECT_EQ(processes.newest().spec.share, "agent fake, project team");
    attach();
    EXPECT_FALSE(processes.newest().give_way);
    processes.answer("session/prompt", "{}");
    ASSERT_TRUE(processes.newest().give_way);
    auto too_late = std::move(processes.newest().give_way);
    prompt("again");
    EXPECT_FALSE(processes.newest().give_way);
    too_late();
    EXPECT_FALSE(processes.newest().asked_to_end);
    processes.answer("session/prompt", "{}");
    processes.newest().give_way();
    EXPECT_TRUE(processes.newest().asked_to_end);
}

TEST_F(DriverTest, TheProcessOfASessionThatEndedEnds) {
    programs->ended(session);  // it never had one
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    programs->ended(session);
    programs->ended(session);  // told with each look at it
    EXPECT_TRUE(processes.newest().asked_to_end);
}

TEST_F(DriverTest, ThePromptThatIsUnderWayIsNotSentTwice) {
    prompt();
    attach();
    (void)taken();
    prompt();  // the lane has forgotten, and asks for the same effect again
    EXPECT_TRUE(programs->prompting(session, {101, 0}));
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), "reply:stop:0");
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt");
}

TEST_F(DriverTest, WhatIsNotInstalledIsRefusedWithTheReason) {
    own.unavailable = "There is no program fake.";
    programs = std::make_unique<Programs>(own, processes, loop);
    prompt();
    EXPECT_EQ(taken(), "refused:agent_unavailable");
    EXPECT_EQ(why, "There is no program fake.");
}

}  // namespace
}  // namespace dormouse::acp
