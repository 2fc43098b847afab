// The life of an agent's process: start, prompts, updates, cancelling, idle stop.
#include "acp/testing/driver_fixture.h"

namespace dormouse::acp {
namespace {

using namespace session;

using testing::default_options;
using testing::DriverTest;

TEST_F(DriverTest, Prompt_AfterHandshake_IsAnswered) {
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

// The heartbeats fail while the process starts: another one may have got the prompt.
TEST_F(DriverTest, PromptThatMustNotBegin_IsNotSentAndTheNextOneIs) {
    prompt();
    may_start = false;
    attach();
    EXPECT_EQ(taken(), "attach:new:s1 not_begun");
    EXPECT_EQ(processes.methods(), "initialize session/new");
    may_start = true;
    prompt();
    EXPECT_EQ(processes.all.size(), 1U);
    EXPECT_NE(prompted().find("hello"), std::string::npos);
    may_start = false;  // it has begun
    processes.answer("session/prompt", R"({"stopReason":"max_tokens"})");
    EXPECT_EQ(taken(), "reply:length:0");
}

TEST_F(DriverTest, ProcessThatMustNotStart_PromptIsNotBegun) {
    prompt();
    ASSERT_TRUE(processes.newest().spec.may_start);
    EXPECT_TRUE(processes.newest().spec.may_start());
    may_start = false;
    EXPECT_FALSE(processes.newest().spec.may_start());
    processes.newest().done({port::ProcessEnd::How::not_started, 0, {}, "refused", {}});
    loop.run();
    EXPECT_EQ(taken(), "not_begun");
    may_start = true;
    prompt();
    EXPECT_EQ(processes.all.size(), 2U);
}

// The process of a cancelled prompt still waits for its place.
TEST_F(DriverTest, ProcessThatWaits_HasThePermissionOfThePromptItServes) {
    auto const first = permission;
    prompt();
    permission = std::make_shared<bool>(true);
    agents->stop(session, {101, 0});
    loop.pass(Duration(2'000));
    prompt("again", 2);
    ASSERT_EQ(processes.all.size(), 1U);
    *first = false;
    EXPECT_TRUE(processes.newest().spec.may_start());
    *permission = false;
    EXPECT_FALSE(processes.newest().spec.may_start());
    *permission = true;  // a heartbeat meanwhile
    processes.newest().done({port::ProcessEnd::How::not_started, 0, {}, "refused", {}});
    loop.run();
    EXPECT_EQ(taken(), "not_begun");
}

// An earlier prompt was cancelled, and the agent has not stopped yet.
TEST_F(DriverTest, PromptThatWaitsForTheDriverAndMustNotBegin_IsNotSent) {
    prompt();
    attach();
    agents->stop(session, {101, 0});
    prompt("again", 2);
    (void)taken();
    may_start = false;
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_EQ(taken(), "not_begun");
    EXPECT_EQ(prompted().find("again"), std::string::npos);
    EXPECT_FALSE(agents->prompting(session, {102, 0}));
}

TEST_F(DriverTest, Process_GetsFolderEnvironmentAndOurServer) {
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

TEST_F(DriverTest, ForbiddenFolder_NoProcess) {
    context.cwd = "/etc";
    prompt();
    EXPECT_EQ(taken(), "refused:agent_refused");
    EXPECT_TRUE(processes.all.empty());
}

TEST_F(DriverTest, SecondPrompt_GoesToTheSameProcess) {
    prompt();
    attach();
    processes.answer("session/prompt", R"({"stopReason":"max_tokens"})");
    EXPECT_EQ(taken(), "attach:new:s1 reply:length:0");
    prompt("more");
    EXPECT_EQ(processes.all.size(), 1U);
    EXPECT_NE(prompted().find("more"), std::string::npos);
}

TEST_F(DriverTest, TextIsKeptEveryTwoSeconds_ToolCallsAtOnce) {
    prompt();
    attach();
    (void)taken();
    chunk("slow");
    EXPECT_EQ(taken(), "");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "output1");
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t","status":"pending"})");
    EXPECT_EQ(taken(), "output2");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), "reply:stop:2");
}

TEST_F(DriverTest, LateUpdate_BelongsToTheAnswerOnlyForASecond) {
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    (void)taken();
    chunk("late");
    loop.pass(Duration(1'000));
    EXPECT_EQ(taken(), "output0");
    chunk("much later");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "output0:by_itself");
    loop.pass(Duration(600'000));
    EXPECT_FALSE(processes.newest().end_requested) << "the update counts as activity";
    loop.pass(Duration(600'000));
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(DriverTest, TooManyUpdates_AreCombinedAndNothingFinalIsLost) {
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
    EXPECT_EQ(taken(), "output1 output2") << "the text, and that there is a tool call";
    EXPECT_EQ(streamed, std::string(1'500, 'x'));
    update(R"({"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"})");
    EXPECT_EQ(taken(), "output3 output4") << "the newest plan, and its end";
    chunk("y");
    EXPECT_EQ(streamed, std::string(1'500, 'x'));
    loop.pass(Duration(1'000));
    EXPECT_EQ(streamed, std::string(1'500, 'x') + "y");
    chunk("z");
    EXPECT_EQ(streamed, std::string(1'500, 'x') + "yz");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), R"(reply:stop:4:[{"type":"text","text":"yz"}])");
}

TEST_F(DriverTest, OtherSessionsAndUnknownRequests_AreIgnored) {
    prompt();
    attach();
    (void)taken();
    update(R"({"sessionUpdate":"tool_call","toolCallId":"t"})", "s2");
    processes.say(R"({"id":5,"method":"fs/write_text_file","params":{"path":"/etc/x"}})");
    EXPECT_NE(last_line().find("-32601"), std::string::npos);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, LoginRequired_ErrorNamesUnsetKeys) {
    prompt();
    attach();
    processes.refuse("session/prompt", -32000, "Authentication required");
    EXPECT_EQ(taken(), "attach:new:s1 refused:agent_login");
    EXPECT_NE(why.find("OTHER_KEY"), std::string::npos);
}

TEST_F(DriverTest, RefusedPrompt_KeepsEarlierText) {
    prompt();
    attach();
    chunk("half");
    processes.refuse("session/prompt", -32603, "overloaded");
    EXPECT_EQ(taken(), "attach:new:s1 output1 refused:agent_refused");
}

TEST_F(DriverTest, Prompt_AnsweredBeforeFlush_KeepsNewestPlan) {
    prompt();
    attach();
    (void)taken();
    for (int i = 0; i < 1'001; ++i) chunk("x");
    update(R"({"sessionUpdate":"plan","entries":[1]})");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), R"(output1 reply:stop:1:[{"type":"text","text":")" +
                           std::string(1'001, 'x') + "\"}]");
}

TEST_F(DriverTest, RefusedAfterStop_ProcessEnds) {
    prompt();
    agents->stop(session, {101, 0});
    processes.refuse("initialize", -32603, "no licence");
    EXPECT_TRUE(processes.newest().end_requested);
    prompt("next", 2);
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U) << "the next prompt gets another process at once";
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, PromptOutput_DoesNotDelayIdleStop) {
    prompt();
    attach();
    chunk("answer");
    processes.answer("session/prompt", "{}");
    loop.pass(Duration(600'000));
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(DriverTest, OtherProtocolVersion_IsRefused) {
    prompt();
    processes.answer("initialize", R"({"protocolVersion":2})");
    EXPECT_EQ(taken(), "refused:agent_refused");
    EXPECT_NE(why.find("version 2"), std::string::npos);
}

TEST_F(DriverTest, CancelledPrompt_LaterUpdates_AreKept) {
    prompt();
    attach();
    chunk("half");
    (void)taken();
    agents->stop(session, {101, 0});
    EXPECT_EQ(taken(), "output0") << "it belongs to the turn that was cancelled";
    chunk(" a word");
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_EQ(taken(), "output0");
    loop.pass(Duration(3'000));
    chunk("[Request interrupted by user]");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "output0") << "it belongs to the turn that was cancelled";
    loop.pass(Duration(20'000));
    chunk("by myself");
    loop.pass(Duration(2'000));
    EXPECT_EQ(taken(), "output0:by_itself");
}

TEST_F(DriverTest, TextAfterResponse_NextPromptAtOnce_IsKept) {
    prompt();
    attach();
    chunk("REPLY ");
    processes.answer("session/prompt", "{}");
    (void)taken();
    chunk("TOKEN-1");
    prompt("next", 2);
    EXPECT_EQ(taken(), "output0");
}

TEST_F(DriverTest, WaitingPrompt_TurnCancelled_IsNotSent) {
    prompt();
    attach();
    agents->stop(session, {101, 0});
    prompt("next", 2);  // waits for the answer
    agents->stop(session, {102, 0});
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/cancel");
}

TEST_F(DriverTest, PresetMode_IsSetIfTheSessionHasIt) {
    own.mode = "default";
    own.mode_of_preset = true;
    for (bool const there : {true, false}) {
        agents = std::make_unique<ExternalAgents>(own, processes, loop);
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

TEST_F(DriverTest, ModeChosenByAgent_Warns) {
    std::vector<std::string> warned;
    own.not_asking = [](std::string const& mode) { return mode == "yolo" ? "asks nobody" : ""; };
    own.warn = [&](SessionId const&, std::string const& warning) { warned.push_back(warning); };
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    prompt();
    attach();
    EXPECT_TRUE(agents->not_asking().empty());
    update(R"({"sessionUpdate":"current_mode_update","currentModeId":"yolo"})");
    update(R"({"sessionUpdate":"current_mode_update","currentModeId":"yolo"})");
    EXPECT_EQ(warned, std::vector<std::string>{"asks nobody"});
    ASSERT_EQ(agents->not_asking().size(), 1U);
    EXPECT_EQ(agents->not_asking().front().session, session);
    update(R"({"sessionUpdate":"config_option_update","configOptions":[)"
           R"({"id":"mode","currentValue":"ask"}]})");
    EXPECT_TRUE(agents->not_asking().empty());
    update(R"({"sessionUpdate":"config_option_update","configOptions":[)"
           R"({"id":"model","currentValue":"yolo"},{"id":"mode","currentValue":"yolo"}]})");
    EXPECT_EQ(warned.size(), 2U);
    processes.die();
    loop.run();
    EXPECT_TRUE(agents->not_asking().empty()) << "nothing runs in it";
}

TEST_F(DriverTest, InitialMode_Warns) {
    own.not_asking = [](std::string const& mode) { return mode; };
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    prompt();
    ready();
    processes.answer("session/new", R"({"sessionId":"s1","modes":{"currentModeId":"auto"}})");
    ASSERT_EQ(agents->not_asking().size(), 1U);
    EXPECT_EQ(agents->not_asking().front().why, "auto");
}

TEST_F(DriverTest, Cancel_CancelsQuestionsAndWaitsForTheAnswer) {
    prompt();
    attach();
    asks(default_options);
    (void)taken();
    agents->stop(session, {101, 0});
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt session/cancel");
    prompt("next", 2);  // waits for the answer
    EXPECT_EQ(prompted().find("next"), std::string::npos);
    processes.answer("session/prompt", R"({"stopReason":"cancelled"})");
    loop.run();
    EXPECT_NE(prompted().find("next"), std::string::npos);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, CancelIgnored_ProcessEnds) {
    prompt();
    attach();
    agents->stop(session, {101, 0});
    prompt("next");
    loop.pass(Duration(10'000));
    ASSERT_TRUE(processes.newest().end_requested);
    (void)taken();
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, NotReadyInTime_ProcessEnds) {
    prompt();
    loop.pass(Duration(90'000));
    EXPECT_TRUE(processes.newest().end_requested);
    processes.die();
    EXPECT_EQ(taken(), "died:agent_crashed");
    EXPECT_NE(why.find("not ready in 90 s"), std::string::npos);
}

TEST_F(DriverTest, IdleProcess_IsEndedAndStartedAgain) {
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    loop.pass(Duration(599'000));
    EXPECT_FALSE(processes.newest().end_requested);
    loop.pass(Duration(1'000));
    EXPECT_TRUE(processes.newest().end_requested);
    (void)taken();
    prompt("again");  // before it has ended: never two processes on one session
    EXPECT_EQ(processes.all.size(), 1U);
    processes.die();
    loop.run();
    EXPECT_EQ(processes.all.size(), 2U);
    EXPECT_EQ(taken(), "");
}

TEST_F(DriverTest, IdleProcess_GivesWay_PromptedOneDoesNot) {
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
    EXPECT_FALSE(processes.newest().end_requested);
    processes.answer("session/prompt", "{}");
    processes.newest().give_way();
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(DriverTest, EndedSession_ProcessEnds) {
    agents->ended(session);  // it never had one
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    agents->ended(session);
    agents->ended(session);  // repeated with each read of the session
    EXPECT_TRUE(processes.newest().end_requested);
}

TEST_F(DriverTest, RunningPrompt_IsNotSentTwice) {
    prompt();
    attach();
    (void)taken();
    prompt();  // the lane was unloaded and asks for the same effect again
    EXPECT_TRUE(agents->prompting(session, {101, 0}));
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(taken(), "reply:stop:0");
    EXPECT_EQ(processes.methods(), "initialize session/new session/prompt");
}

TEST_F(DriverTest, NotInstalled_IsRefusedWithReason) {
    own.unavailable = "There is no program fake.";
    agents = std::make_unique<ExternalAgents>(own, processes, loop);
    prompt();
    EXPECT_EQ(taken(), "refused:agent_unavailable");
    EXPECT_EQ(why, "There is no program fake.");
}

TEST_F(DriverTest, NegativeUsage_CountsAsZero) {
    prompt();
    attach();
    processes.answer("session/prompt", R"({"usage":{"inputTokens":-5,"outputTokens":3}})");
    EXPECT_EQ(last_usage.input_tokens, 0);
    EXPECT_EQ(last_usage.output_tokens, 3);
}

TEST_F(DriverTest, ReportedCost_IsTheNewestPlausibleTotal) {
    prompt();
    attach();
    auto const report = [this](std::string const& cost) {
        update(R"({"sessionUpdate":"usage_update","used":9,"size":100)" + cost + "}");
    };
    report(R"(,"cost":{"amount":0.01,"currency":"USD"})");
    report(R"(,"cost":{"amount":0.0125,"currency":"USD"})");
    report("");
    report(R"(,"cost":{"amount":-1,"currency":"USD"})");
    report(R"(,"cost":{"amount":1e300,"currency":"USD"})");
    report(R"(,"cost":{"amount":"1","currency":"USD"})");
    report(R"(,"cost":{"amount":1,"currency":"dollars"})");
    processes.answer("session/prompt", "{}");
    EXPECT_EQ(last_spent, (session::Cost{{"USD", 12'500}}));
    EXPECT_EQ(taken().find("output"), std::string::npos);
}

TEST_F(DriverTest, NoReportedCost_IsUnknown) {
    prompt();
    attach();
    processes.answer("session/prompt", "{}");
    EXPECT_TRUE(last_spent.empty());
}

}  // namespace
}  // namespace dormouse::acp
