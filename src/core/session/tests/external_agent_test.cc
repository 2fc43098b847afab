#include "session/testing/given.h"

#include <gtest/gtest.h>

// Sessions of external agents.
namespace dormouse::session {
namespace {

using namespace testing;

TurnTerms programmed(OnRestart on_restart = OnRestart::resume) {
    TurnTerms terms;
    terms.on_restart = on_restart;
    return terms;
}

class Program : public Given {
public:
    explicit Program(OnRestart on_restart = OnRestart::resume) : Given(programmed(on_restart)) {
        (void)create();
        (void)prompt("please");
    }
    Decision says(std::string const& text, bool begins = true) {
        AgentOutput output{AgentOutputKind::message, parts(text), begins};
        return tells(std::move(output));
    }
    Decision works(std::string const& id, AgentToolStatus status) {
        return tells({AgentOutputKind::tool, json("{}"), false, id, "ls", status});
    }
    Decision tells(AgentOutput output) {
        return when(AgentReport{turn().no, turn().step, turn().attempt, turn().external.updates + 1,
                                std::move(output)});
    }
    Decision asks(std::uint32_t ask = 1, std::string const& input = R"({"cmd":"rm"})") {
        CallSpec spec;
        spec.model_id = "t1";
        spec.tool = "acp:execute";
        spec.input = json(input);
        spec.input_digest = sha256(input);
        spec.ask = ask;
        spec.ask_attempt = turn().attempt;
        if (!shown.empty()) spec.shown = sha256(shown + input);
        PauseTerms terms = pause_for(PauseReason::approval);
        terms.continuation = Continuation::tool_response;
        AgentAsk ask_for{
            turn().no,        turn().step, turn().attempt, turn().external.updates, std::move(spec),
            std::move(terms), {}};
        ask_for.own = own;
        ask_for.denied = std::exchange(denied, {});
        return when(std::move(ask_for));
    }
    Decision answers(std::string const& text = "done") {
        AgentReply reply{.turn = turn().no, .step = turn().step, .attempt = turn().attempt};
        reply.updates = turn().external.updates;
        reply.usage = {10, 5, 0};
        reply.spent = spent;
        reply.last = AgentOutput{AgentOutputKind::message, parts(text), true};
        return when(std::move(reply));
    }
    Decision fails(AgentFailure::How how = AgentFailure::How::died) {
        return when(
            AgentFailure{turn().no, turn().step, turn().attempt, {"agent_crashed", "exit 1"}, how});
    }

    std::string shown = "rm it";  // shown besides the input; empty: unknown
    Cost spent;
    std::string own;
    std::string denied;  // of the next permission: why a gate denies it
};

TEST(Program, Prompt_IsStoredThenSent_AnswerEndsTheTurn) {
    Program given;
    EXPECT_TRUE(given.find_effect<AskModel>() && given.find_effect<AskModel>()->external);
    EXPECT_EQ(types(given.says("thinking")), "agent_update");
    EXPECT_EQ(types(given.answers()), "agent_update agent_replied turn_ended");
    EXPECT_EQ(given.what_class(), "idle");
    EXPECT_EQ(given.state.messages, 3U);
    EXPECT_EQ(given.state.usage.input_tokens, 10);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, ReportedTotal_IsSharedOutToTheTurns) {
    Program given;
    given.spent = {{"USD", 30}};
    given.answers();
    EXPECT_EQ(given.state.usage.cost, (Cost{{"USD", 30}}));
    given.prompt("and again");
    given.spent = {{"USD", 50}};
    given.answers();
    EXPECT_EQ(given.state.last_turn->usage.cost, (Cost{{"USD", 20}}));
    EXPECT_EQ(given.state.usage.cost, (Cost{{"USD", 50}}));
    given.prompt("after a restart, from 0");
    given.spent = {{"USD", 10}};
    given.answers();
    EXPECT_EQ(given.state.last_turn->usage.cost, (Cost{{"USD", 10}}));
    given.prompt("no report");
    given.spent = {};
    given.answers();
    EXPECT_EQ(given.state.last_turn->usage.cost, Cost{});
    EXPECT_EQ(given.state.usage.cost, (Cost{{"USD", 60}}));
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Intent_HasAMarkerForEachAttempt) {
    Program given;
    auto const& log = given.archive.log;
    auto const prompted = std::get<AgentPrompted>(log.back().body);
    EXPECT_EQ(prompted.marker, marker_of(given.id, 1, 1) + "1");
    Decision const again = given.restart();
    EXPECT_EQ(types(again), "detached agent_prompted");
    EXPECT_EQ(first<AgentPrompted>(again).marker, marker_of(given.id, 1, 1) + "2");
    EXPECT_TRUE(agent_context(given.state).again);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Updates_AreStoredInOrderAndOnce) {
    Program given;
    AgentReport second{1, 1, 1, 2, {AgentOutputKind::message, Given::parts("b"), false}};
    EXPECT_EQ(answer_of(given.when(second)), "not_ready");
    EXPECT_EQ(types(given.says("a")), "agent_update");
    EXPECT_EQ(types(given.when(second)), "agent_update");
    EXPECT_EQ(types(given.when(second)), "");
    AgentReply const early{.turn = 1, .step = 1, .attempt = 1, .updates = 3};
    EXPECT_EQ(answer_of(given.when(early)), "not_ready");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, ContinuedText_BelongsToTheSameMessage) {
    Program given;
    Decision const begun = given.says("a");
    Decision const more = given.says("b", false);
    EXPECT_EQ(first<AgentUpdate>(begun).message, begun.events.front().seq);
    EXPECT_EQ(first<AgentUpdate>(more).message, begun.events.front().seq);
    EXPECT_EQ(given.state.messages, 2U);
}

TEST(Program, DeathDuringATurn_OpenToolsAreUnknown) {
    Program given;
    (void)given.works("t1", AgentToolStatus::in_progress);
    (void)given.works("t2", AgentToolStatus::in_progress);
    (void)given.works("t2", AgentToolStatus::completed);
    Decision const died = given.fails();
    EXPECT_EQ(types(died), "detached");
    EXPECT_EQ(first<AgentDetached>(died).lost, std::vector<std::string>{"ls"});
    EXPECT_TRUE(first<AgentDetached>(died).retry_at);
    EXPECT_EQ(activity(given.state), Activity::retry);
    EXPECT_EQ(types(given.later(Duration(2'000))), "agent_prompted");
    EXPECT_TRUE(agent_context(given.state).turn.prompt_received);
    EXPECT_EQ(agent_context(given.state).turn.lost.size(), 1U);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, ThreeDeathsInAMinute_AreAnErrorUntilRetry) {
    Program given;
    (void)given.fails();
    (void)given.later(Duration(2'000));
    (void)given.fails();
    (void)given.later(Duration(4'000));
    EXPECT_EQ(types(given.fails()), "detached status_changed");
    EXPECT_EQ(given.state.lifecycle, Lifecycle::error);
    EXPECT_EQ(types(given.later(Duration(600'000))), "");
    EXPECT_EQ(types(given.move(Move::To::retry)), "status_changed agent_prompted");
    EXPECT_EQ(types(given.answers()), "agent_update agent_replied turn_ended");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Deaths_AnHourApart_StartAgainUntilTheAttemptsAreUsedUp) {
    Program given;
    for (std::uint32_t death = 1; death < limits::agent_attempts_max; ++death) {
        EXPECT_EQ(types(given.fails()), "detached") << death;
        EXPECT_EQ(types(given.later(Duration(3'600'000))), "agent_prompted") << death;
    }
    Decision const last = given.fails();
    EXPECT_EQ(types(last), "detached status_changed");
    EXPECT_FALSE(first<AgentDetached>(last).retry_at);
    EXPECT_NE(first<StatusChanged>(last).why.find("in 5 attempts: exit 1"), std::string::npos);
    EXPECT_EQ(types(given.later(Duration(3'600'000))), "");
    EXPECT_EQ(types(given.move(Move::To::retry)), "status_changed agent_prompted");
    EXPECT_EQ(types(given.fails()), "detached") << "a person's retry begins from the first attempt";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, OnRestartAsk_PausesUntilAPersonResumes) {
    Program given(OnRestart::ask);
    EXPECT_EQ(types(given.restart()), "detached status_changed");
    EXPECT_EQ(given.state.lifecycle, Lifecycle::paused);
    EXPECT_EQ(types(given.later(Duration(600'000))), "");
    EXPECT_EQ(types(given.move(Move::To::resume)), "status_changed agent_prompted");
    EXPECT_TRUE(agent_context(given.state).turn.continues);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Refusal_EndsTheTurnNotTheSession) {
    Program given;
    EXPECT_EQ(types(given.fails(AgentFailure::How::refused)), "detached turn_ended");
    EXPECT_EQ(given.state.lifecycle, Lifecycle::active);
    EXPECT_EQ(types(given.move(Move::To::retry)), "turn_started agent_prompted");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Permission_IsAPendingCall_DecisionIsSentAtOnce) {
    Program given;
    EXPECT_EQ(types(given.asks()), "agent_asked");
    EXPECT_EQ(types(given.asks()), "");  // a repeat
    EXPECT_EQ(activity(given.state), Activity::waiting_async);
    EXPECT_EQ(answer_of(given.submit(given.pending(1), result("x"))), "wrong_kind");
    EXPECT_EQ(types(given.submit(given.pending(1), decision(true))), "submitted");
    auto const tell = given.find_effect<NotifyAgent>();
    ASSERT_TRUE(tell);
    EXPECT_EQ(*tell, (NotifyAgent{1, 1, true, false}));
    (void)given.works("t1", AgentToolStatus::completed);
    EXPECT_FALSE(given.find_effect<NotifyAgent>());
    EXPECT_EQ(types(given.answers()), "agent_update agent_replied turn_ended");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, PermissionThatAGateDenies_IsDeniedWithoutAPerson) {
    Program given;
    given.denied = "not on a Friday";
    EXPECT_EQ(types(given.asks()), "agent_asked submitted");
    auto const tell = given.find_effect<NotifyAgent>();
    ASSERT_TRUE(tell);
    EXPECT_EQ(*tell, (NotifyAgent{1, 1, false, false}));
    EXPECT_EQ(activity(given.state), Activity::busy);
    EXPECT_EQ(types(given.asks()), "") << "offered again";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, PermissionThatAGateDenies_RevokesAnUnusedApproval) {
    Program given;
    (void)given.asks();
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(true));
    given.denied = "not on a Friday";
    EXPECT_EQ(types(given.asks()), "agent_asked submitted");
    EXPECT_EQ(types(given.asks(2)), "agent_asked") << "the approval was taken back";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Permission_ArgumentsCannotBeEdited) {
    Program given;
    (void)given.asks();
    Submission edited = decision(true);
    edited.arguments = json("{}");
    EXPECT_EQ(answer_of(given.submit(given.pending(1), edited)), "invalid_arguments");
    EXPECT_EQ(activity(given.state), Activity::waiting_async);
}

TEST(Program, Permission_OutlivesItsProcess_NextPromptCarriesIt) {
    Program given;
    (void)given.asks();
    EXPECT_EQ(types(given.restart()), "detached");  // waits for the person, and sleeps
    EXPECT_EQ(given.what_class(), "waiting");
    EXPECT_FALSE(wake_at(given.state));
    EXPECT_EQ(types(given.submit(given.pending(1), decision(true))), "submitted agent_prompted");
    auto const context = agent_context(given.state);
    ASSERT_EQ(context.turn.permissions.size(), 1U);
    EXPECT_TRUE(context.turn.permissions[0].approved);
    EXPECT_FALSE(given.find_effect<NotifyAgent>());  // the process that asked is gone
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, LateApproval_IsGrantedOnceForTheSameInput) {
    Program given;
    (void)given.asks();
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(true));
    EXPECT_EQ(types(given.asks(1, R"({"cmd":"other"})")), "agent_asked");
    EXPECT_EQ(types(given.asks(2)), "agent_granted");
    auto const tell = given.find_effect<NotifyAgent>();
    ASSERT_TRUE(tell);
    EXPECT_EQ(*tell, (NotifyAgent{2, 2, true, false}));
    EXPECT_EQ(types(given.asks(3)), "agent_asked");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Approval_UsedOnceAfterADeath_AsksAgainAfterTheNext) {
    Program given;
    (void)given.asks();
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(true));
    EXPECT_EQ(types(given.asks(1)), "agent_granted");
    (void)given.fails();
    (void)given.later(Duration(2'000));
    Decision const again = given.asks(1);
    EXPECT_EQ(types(again), "agent_asked");
    EXPECT_NE(first<AgentAsked>(again).terms->message.find("may have run already"),
              std::string::npos);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Approval_SentBeforeTheDeath_AsksAgainAndSaysSo) {
    Program given;
    (void)given.asks();
    (void)given.submit(given.pending(1), decision(true));
    (void)given.works("t1", AgentToolStatus::in_progress);
    EXPECT_EQ(types(given.restart()), "detached agent_prompted");
    ASSERT_EQ(agent_context(given.state).turn.permissions.size(), 1U);
    EXPECT_TRUE(agent_context(given.state).turn.permissions[0].may_be_used);
    Decision const again = given.asks(1);
    EXPECT_EQ(types(again), "agent_asked");
    EXPECT_NE(first<AgentAsked>(again).terms->message.find("may have run already"),
              std::string::npos);
    EXPECT_EQ(types(given.submit(given.pending(2), decision(true))), "submitted");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Approval_OfAnEmptyInput_FitsNoLaterRequest) {
    Program given;
    (void)given.asks(1, "null");
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(true));
    EXPECT_EQ(types(given.asks(1, "null")), "agent_asked");

    Program vague;
    (void)vague.asks();
    (void)vague.restart();
    (void)vague.submit(vague.pending(1), decision(true));
    vague.shown.clear();
    EXPECT_EQ(types(vague.asks(1)), "agent_asked");
}

TEST(Program, Approval_OfAnotherToolWithTheSameInput_AsksAgainAndSaysSo) {
    Program given;
    given.shown = "look at it";
    (void)given.asks();
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(true));
    given.shown = "delete it";
    Decision const other = given.asks(1);
    EXPECT_EQ(types(other), "agent_asked");
    std::string const message = first<AgentAsked>(other).terms->message;
    EXPECT_NE(message.find("does not apply: this request may differ"), std::string::npos);
    EXPECT_EQ(message.find("may have run already"), std::string::npos) << "it was dead";
    given.shown = "look at it";
    EXPECT_EQ(types(given.asks(2)), "agent_granted") << "that is still what was approved";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Approval_SentForAnotherTool_SaysItMayHaveRun) {
    Program given;
    given.shown = "look at it";
    (void)given.asks();
    (void)given.submit(given.pending(1), decision(true));
    (void)given.restart();
    given.shown = "delete it";
    std::string const message = first<AgentAsked>(given.asks(1)).terms->message;
    EXPECT_NE(message.find("does not apply: this request may differ"), std::string::npos);
    EXPECT_NE(message.find("may have run already"), std::string::npos);
}

// As release 0.1 wrote it.
TEST(Program, Approval_WithoutShownDigest_FitsNoLaterRequest) {
    for (std::string const now : {"rm it", ""}) {
        Program given;
        given.shown.clear();
        (void)given.asks();
        (void)given.restart();
        (void)given.submit(given.pending(1), decision(true));
        given.shown = now;
        Decision const again = given.asks(1);
        EXPECT_EQ(types(again), "agent_asked") << now;
        EXPECT_NE(
            first<AgentAsked>(again).terms->message.find("does not apply: this request may differ"),
            std::string::npos);
        EXPECT_EQ(given.broken(), "");
    }
}

TEST(Program, LateApproval_ThenADenialOfTheSame_IsRevoked) {
    Program given;
    (void)given.asks(1);
    (void)given.asks(2);
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(true));
    (void)given.submit(given.pending(2), decision(false));
    EXPECT_EQ(types(given.asks(1)), "agent_asked");
    EXPECT_EQ(given.broken(), "");

    Program other;  // what was denied is something else
    (void)other.asks(1);
    other.shown = "delete it";
    (void)other.asks(2);
    (void)other.restart();
    (void)other.submit(other.pending(1), decision(true));
    (void)other.submit(other.pending(2), decision(false));
    other.shown = "rm it";
    EXPECT_EQ(types(other.asks(1)), "agent_granted");
    EXPECT_EQ(other.broken(), "");
}

TEST(Program, OwnTool_IsGrantedWithoutAPersonAndSentOnce) {
    Program given;
    given.own = "mcp__dormouse__deploy";
    Decision const granted = given.asks(1);
    EXPECT_EQ(types(granted), "agent_granted");
    EXPECT_EQ(first<AgentGranted>(granted).own, "mcp__dormouse__deploy");
    ASSERT_TRUE(given.find_effect<NotifyAgent>());
    EXPECT_EQ(*given.find_effect<NotifyAgent>(), (NotifyAgent{1, 1, true, false}));
    EXPECT_EQ(types(given.asks(1)), "") << "offered again";
    (void)given.works("t1", AgentToolStatus::completed);
    EXPECT_FALSE(given.find_effect<NotifyAgent>());
    given.own.clear();
    EXPECT_EQ(types(given.asks(2)), "agent_asked") << "another tool";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Denial_IsNoGrant) {
    Program given;
    (void)given.asks();
    (void)given.restart();
    (void)given.submit(given.pending(1), decision(false));
    EXPECT_EQ(types(given.asks(1)), "agent_asked");
}

TEST(Program, AnswerWithOpenPermissions_CancelsThem) {
    Program given;
    (void)given.asks();
    EXPECT_EQ(types(given.answers()), "agent_update cancelled agent_replied turn_ended");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, ManyPermissionsInATurn_StayBounded) {
    Program given;
    for (std::uint32_t ask = 1; ask <= 300; ++ask) {
        (void)given.asks(ask);
        (void)given.submit(given.pending(ask), decision(true));
    }
    EXPECT_LE(given.state.outstanding.size(), limits::permissions_max + 1);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, Steer_WaitsForTheTurn_InterruptEndsIt) {
    Program given;
    EXPECT_EQ(types(given.prompt("and this", PromptMode::steer)), "input_received");
    EXPECT_EQ(given.state.queue.size(), 1U);
    EXPECT_EQ(types(given.prompt("stop", PromptMode::interrupt)),
              "turn_ended input_received turn_started agent_prompted");
}

TEST(Program, CancelledTurn_ItsInputIsNotSentAgain) {
    Program given;
    (void)given.cancel_turn();
    Seq const before = given.state.head;
    (void)given.prompt("another");
    EXPECT_GT(agent_context(given.state).seen, 2U);
    EXPECT_LE(agent_context(given.state).seen, before);
    (void)given.restart();  // this turn's own input must still be sent
    EXPECT_LE(agent_context(given.state).seen, before);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, UnsentInput_GoesWithTheNextPrompt) {
    Program given;
    (void)given.fails(AgentFailure::How::refused);
    (void)given.prompt("another");
    EXPECT_EQ(agent_context(given.state).seen, 0U);
}

TEST(Program, UpdateAfterTheAnswer_IsKept) {
    Program given;
    (void)given.answers();
    AgentReport late{1, 1, 1, 0, {AgentOutputKind::message, Given::parts("late"), true}};
    Decision const decision = given.when(late);
    EXPECT_EQ(types(decision), "agent_update");
    EXPECT_EQ(decision.events.front().turn, 1U);
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, UnpromptedUpdate_IsATurnOfItsOwn) {
    Program given;
    (void)given.answers();
    AgentReport const late{1,   1, 1, 0, {AgentOutputKind::message, Given::parts("late"), true},
                           true};
    Decision const decision = given.when(late);
    EXPECT_EQ(types(decision), "input_received turn_started agent_update turn_ended");
    EXPECT_EQ(first<TurnStarted>(decision).cause, InputSource::external);
    EXPECT_EQ(given.what_class(), "idle");
    EXPECT_EQ(types(given.when(late)), "agent_update") << "it continues in it";
    EXPECT_EQ(given.state.turns, 2U);
    (void)given.prompt("another");
    EXPECT_EQ(agent_context(given.state).seen, given.state.agent_seen);
    EXPECT_GT(given.state.agent_seen, decision.events.front().seq);
    EXPECT_EQ(types(given.when(late)), "agent_update") << "a turn is open";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, TypedInItsTerminal_IsATurnOfItsOwn) {
    Program given;
    (void)given.answers();
    AgentTyped const typed{Given::parts("and tests"), 700};
    Decision const decision = given.when(typed);
    EXPECT_EQ(types(decision), "input_received turn_started turn_ended");
    EXPECT_EQ(first<TurnStarted>(decision).cause, InputSource::external);
    EXPECT_EQ(first<InputReceived>(decision).parts, Given::parts("and tests"));
    EXPECT_EQ(types(given.when(typed)), "") << "it is there already";
    AgentReport const late{1, 1, 1, 0, {AgentOutputKind::message, Given::parts("yes"), true}, true};
    EXPECT_EQ(given.when(late).events.front().turn, 2U) << "what it says then belongs to it";
    EXPECT_EQ(types(given.when(AgentTyped{Given::parts("more"), 701})),
              "input_received turn_started turn_ended");
    (void)given.prompt("another");
    EXPECT_GE(agent_context(given.state).seen, decision.events.back().seq) << "the program has it";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, TypedDuringATurn_IsQueued) {
    Program given;
    given.terms.before = {"limits"};
    EXPECT_EQ(types(given.when(AgentTyped{Given::parts("stop that"), 700})), "input_received");
    (void)given.prompt("another", PromptMode::queue);
    Decision const decision = given.answers();
    EXPECT_EQ(types(decision),
              "agent_update agent_replied turn_ended turn_started turn_ended turn_started");
    EXPECT_EQ(given.state.turn->no, 3U);
    EXPECT_LT(agent_context(given.state).seen, given.state.turn->newest_item)
        << "the prompt after it must still be sent";
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, TypedTurn_WithInterceptors_AsksNone) {
    Program given;
    (void)given.answers();
    given.terms.before = {"limits"};
    given.terms.after = {"audit"};
    Decision const decision = given.when(AgentTyped{Given::parts("by hand"), 700});
    EXPECT_EQ(types(decision), "input_received turn_started turn_ended");
    EXPECT_FALSE(given.find_effect<AskTurn>());
    EXPECT_TRUE(given.state.unnotified.empty());
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, TypedWithItsAnswer_IsATurnThatHoldsBoth) {
    Program given;
    (void)given.answers();
    AgentTyped typed{Given::parts("and tests"), 700};
    typed.answer = Given::parts("they pass");
    Decision const decision = given.when(typed);
    EXPECT_EQ(types(decision), "input_received turn_started agent_update turn_ended");
    EXPECT_EQ(first<AgentUpdate>(decision).what.body, Given::parts("they pass"));
    EXPECT_EQ(first<AgentUpdate>(decision).turn, 2U);
    EXPECT_EQ(given.state.messages, 4U);
    EXPECT_EQ(given.broken(), "");

    Program busy;
    EXPECT_EQ(types(busy.when(typed)), "input_received");
    EXPECT_EQ(types(busy.answers()),
              "agent_update agent_replied turn_ended turn_started agent_update turn_ended");
    EXPECT_EQ(busy.broken(), "");
}

TEST(Program, TypedBeforeAnyPrompt_AttachesTheSession) {
    Given given(programmed());
    (void)given.create();
    EXPECT_EQ(types(given.when(AgentAttach{0, 0, 0, "s1", "new", "fake 1"})), "attached");
    EXPECT_EQ(types(given.when(AgentAttach{0, 0, 0, "s2", "new", "fake 1"})), "");
    EXPECT_EQ(given.state.acp_session, "s1");
    EXPECT_EQ(types(given.when(AgentTyped{Given::parts("hello"), 5})),
              "input_received turn_started turn_ended");
    AgentReport const late{0, 0, 0, 0, {AgentOutputKind::message, Given::parts("hi"), true}, true};
    EXPECT_EQ(types(given.when(late)), "agent_update");
    EXPECT_EQ(given.broken(), "");
}

TEST(Program, TypedWithAFullQueue_IsTakenLater) {
    Program given;
    for (std::size_t i = 0; i < given.limits.queue; ++i)
        (void)given.prompt("more", PromptMode::queue);
    Decision const decision = given.when(AgentTyped{Given::parts("x"), 5});
    ASSERT_FALSE(decision.answer);
    EXPECT_EQ(info(decision.answer.error().code).next, Next::retry);
}

TEST(Program, FailedTurn_CanStillBeRetried) {
    Program given;
    (void)given.fails(AgentFailure::How::refused);
    AgentReport const late{1,   1, 1, 0, {AgentOutputKind::message, Given::parts("late"), true},
                           true};
    EXPECT_EQ(types(given.when(late)), "agent_update");
    EXPECT_TRUE(given.state.last_turn->failed);
}

TEST(Program, OldAttempt_IsIgnored) {
    Program given;
    (void)given.restart();
    EXPECT_EQ(types(given.when(AgentReply{.turn = 1, .step = 1, .attempt = 1})), "");
    EXPECT_EQ(
        types(given.when(AgentReport{1, 1, 1, 1, {AgentOutputKind::message, Given::parts("x")}})),
        "");
    EXPECT_EQ(types(given.when(AgentFailure{1, 1, 1, {"a", "b"}, AgentFailure::How::died})), "");
}

}  // namespace
}  // namespace dormouse::session
