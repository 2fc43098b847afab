#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Gates: asked in order before a tool runs. Each pause of a chain has its own pendingID.
namespace dormouse::session::testing {
namespace {

class GateTest : public SessionTest {
protected:
    static PauseTerms approval() { return pause_for(PauseReason::approval); }
};

TEST_F(GateTest, Gate_IsAskedBeforeTheToolRuns) {
    asks_for({gated(plain())});
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt);
    auto const ask = find_effect<AskGate>();
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->gate, "approve");
    EXPECT_EQ(ask->tool, "read");
    EXPECT_EQ(activity(state), Activity::busy);
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
}

TEST_F(GateTest, Deny_DoesNotRunTheToolAndGivesTheReason) {
    asks_for({gated(plain())});
    auto const d = gate(1, GateOutcome::Deny{"denied: not on Friday"});
    EXPECT_EQ(types(d), "gate_decided model_requested");
    EXPECT_FALSE(first<GateDecided>(d).allowed);
    EXPECT_EQ(first<GateDecided>(d).message, "denied: not on Friday");
    EXPECT_EQ(state.calls.size(), 0U);
}

TEST_F(GateTest, SeveralGates_AreAskedInOrder_AllMustAllow) {
    asks_for({gated(plain(), {"first", "second"})});
    EXPECT_EQ(find_effect<AskGate>()->gate, "first");
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided");
    EXPECT_EQ(find_effect<AskGate>()->gate, "second");
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
}

TEST_F(GateTest, EditedArguments_AreSeenByTheNextGateAndTheTool) {
    asks_for({gated(plain(), {"first", "second"})});
    Json const edited = json(R"({"to":"staging"})");
    (void)gate(1, GateOutcome::Allow{edited, sha256(edited.text())});
    EXPECT_EQ(find_effect<AskGate>()->input, edited);
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<RunTool>()->input, edited);
    EXPECT_EQ(call(1).spec.input_digest, sha256(edited.text()));
}

// Who allowed at an earlier gate saw other arguments.
TEST_F(GateTest, EditAtALaterGate_AsksTheEarlierOnesAgainAndItselfNot) {
    asks_for({gated(plain(), {"first", "second", "third"})});
    Json const edited = json(R"({"to":"staging"})");
    (void)gate(1, GateOutcome::Allow{});
    auto const d = gate(1, GateOutcome::Allow{edited, sha256(edited.text())});
    EXPECT_TRUE(first<GateDecided>(d).again);
    EXPECT_EQ(find_effect<AskGate>()->gate, "first");
    EXPECT_EQ(find_effect<AskGate>()->input, edited);
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<AskGate>()->gate, "third");
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
    EXPECT_EQ(find_effect<RunTool>()->input, edited);
}

TEST_F(GateTest, EditThatChangesNothing_AsksNobodyAgain) {
    asks_for({gated(plain(), {"first", "second"})});
    (void)gate(1, GateOutcome::Allow{});
    auto const& spec = call(1).spec;
    auto const d = gate(1, GateOutcome::Allow{spec.input, spec.input_digest});
    EXPECT_EQ(types(d), "gate_decided tool_started");
}

TEST_F(GateTest, EditAfterAnEdit_AsksAllOthersAgain) {
    asks_for({gated(plain(), {"first", "second", "third"})});
    Json const one = json(R"({"to":"one"})"), two = json(R"({"to":"two"})");
    (void)gate(1, GateOutcome::Allow{});
    (void)gate(1, GateOutcome::Allow{});
    (void)gate(1, GateOutcome::Allow{one, sha256(one.text())});  // the third
    EXPECT_EQ(find_effect<AskGate>()->gate, "first");
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<AskGate>()->gate, "second");
    (void)gate(1, GateOutcome::Allow{two, sha256(two.text())});
    EXPECT_EQ(find_effect<AskGate>()->gate, "first");
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<AskGate>()->gate, "third") << "it allowed other arguments";
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<RunTool>()->input, two);
}

// The tool decides again: what it asked at once was made from the former arguments.
TEST_F(GateTest, EditOfACallThatPausesAtOnce_RunsTheTool) {
    CallSpec spec = gated(plain());
    spec.at_once = pause_for(PauseReason::tool_result);
    asks_for({spec});
    Json const edited = json(R"({"for":"5s"})");
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{edited, sha256(edited.text())})),
              "gate_decided tool_started");
    EXPECT_EQ(find_effect<RunTool>()->input, edited);
}

TEST_F(GateTest, Ask_WaitsForAPersonWithoutADeadline) {
    asks_for({gated(job())});
    auto const d = gate(1, approval());
    EXPECT_EQ(types(d), "gate_asked");
    EXPECT_EQ(first<GateAsked>(d).deadline, std::nullopt);
    EXPECT_EQ(first<GateAsked>(d).pending.generation, 1U);
    EXPECT_EQ(what_class(), "waiting");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

TEST_F(GateTest, Decision_ReachesOnlyTheGateThatAsked) {
    asks_for({gated(plain(), {"first", "second"})});
    (void)gate(1, GateOutcome::Allow{});
    (void)gate(1, approval());
    EXPECT_EQ(types(submit(pending(1), decision(true))), "submitted")
        << "the tool does not run yet";
    ASSERT_TRUE(find_effect<AskGate>());
    EXPECT_EQ(find_effect<AskGate>()->gate, "second") << "earlier decisions are kept";
    ASSERT_TRUE(find_effect<AskGate>()->decision);
    EXPECT_TRUE(find_effect<AskGate>()->decision->approved);
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<RunTool>()->decision, std::nullopt);
}

TEST_F(GateTest, ApprovalThenExternalJob_IsAChainOfTwoIds) {
    asks_for({gated(job())});
    (void)gate(1, approval());
    PendingId const approve = pending(1);
    (void)submit(approve, decision(true));
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
    PendingId const work = pending(1);
    EXPECT_EQ(work.generation, 2U);
    EXPECT_NE(work.nonce, approve.nonce);
    EXPECT_EQ(types(pauses(1)), "call_paused");
    EXPECT_EQ(types(submit(work, result("deployed"))), "submitted model_requested");
}

TEST_F(GateTest, DuplicateApproval_AnswersForItsOwnGeneration) {
    asks_for({gated(job())});
    (void)gate(1, approval());
    PendingId const approve = pending(1);
    (void)submit(approve, decision(true));
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1);
    auto const again = submit(approve, decision(true, "looks fine to me"));
    EXPECT_EQ(answer_of(again), "duplicate") << "the reason is outside the digest";
    EXPECT_EQ(again.answer->receipt->pending, approve);
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(state.waiting, 1U) << "generation 2 is untouched";
    EXPECT_EQ(answer_of(submit(approve, decision(false))), "conflict");
}

TEST_F(GateTest, CancelOfASettledGeneration_ChangesNothing) {
    asks_for({gated(job())});
    (void)gate(1, approval());
    PendingId const approve = pending(1);
    (void)submit(approve, decision(true));
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1);
    EXPECT_EQ(answer_of(cancel_call(approve)), "conflict");
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(GateTest, MissingGate_HoldsTheCall) {
    asks_for({gated(plain())});
    auto const d = gate(1, GateOutcome::Gone{});
    EXPECT_EQ(types(d), "gate_missing");
    EXPECT_EQ(first<GateMissing>(d).gate, "approve");
    EXPECT_EQ(call(1).phase, CallPhase::awaiting_gate);
    EXPECT_TRUE(outstanding(state).empty())
        << "it is asked by the next process, not again and again";
    EXPECT_EQ(activity(state), Activity::waiting_async);
    EXPECT_EQ(types(later(Duration(30LL * 24 * 3'600'000))), "") << "no time limit ends it";
    EXPECT_EQ(wake_at(state), from_ms(0)) << "each process looks whether it is there";
}

TEST_F(GateTest, MissingGate_DecisionIsKeptUntilItIsBack) {
    asks_for({gated(plain())});
    (void)gate(1, approval());
    PendingId const approve = pending(1);
    (void)submit(approve, decision(true));
    crash();
    EXPECT_EQ(types(when(Adopt{{"approve"}})), "gate_missing") << "not denied";
    EXPECT_EQ(answer_of(submit(approve, decision(true))), "duplicate") << "its receipt stays valid";
    crash();
    EXPECT_EQ(types(when(Adopt{{"approve"}})), "") << "nothing is written while it stays so";
    crash();
    EXPECT_EQ(types(when(Adopt{})), "gate_back");
    ASSERT_TRUE(find_effect<AskGate>() && find_effect<AskGate>()->decision);
    EXPECT_TRUE(find_effect<AskGate>()->decision->approved);
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
}

TEST_F(GateTest, CallAwaitingItsGate_TakesNoSlot) {
    slots(1);
    join(1, false);
    asks_for({gated(plain("held")), plain("other")});
    EXPECT_EQ(types(gate(1, GateOutcome::Gone{})), "gate_missing tool_started");
    EXPECT_EQ(types(finish(2)), "tool_finished model_requested") << "the join of one is met";
}

TEST_F(GateTest, ManyCallsAwaitingGates_ReturnAsSlotsComeFree) {
    slots(2);
    asks_for(std::vector<CallSpec>(600, gated(plain())));
    while (!outstanding(state).empty())
        (void)gate(outstanding(state).begin()->first.call, GateOutcome::Gone{});
    EXPECT_EQ(state.awaiting_gate.size(), 600U);
    (void)restart();
    EXPECT_TRUE(state.awaiting_gate.empty());
    EXPECT_EQ(outstanding(state).size(), 2U);
}

TEST_F(GateTest, CallAwaitingItsGate_EndsWithItsTurn) {
    asks_for({gated(plain())});
    (void)gate(1, GateOutcome::Gone{});
    EXPECT_EQ(types(cancel_turn()), "cancelled turn_ended");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

TEST_F(GateTest, DownTime_WhileAGateIsAsked_AsksAgain) {
    asks_for({gated(plain())});
    crash();
    now += limits::gate_time_limit * 100;
    EXPECT_EQ(types(when(Adopt{})), "gate_back") << "not denied";
    ASSERT_TRUE(find_effect<AskGate>());
    EXPECT_EQ(types(tick()), "") << "it has its time again";
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
}

TEST_F(GateTest, GateTimeout_Denies) {
    asks_for({gated(plain())});
    auto const d = later(limits::gate_time_limit);
    EXPECT_EQ(types(d), "gate_decided model_requested");
    EXPECT_FALSE(first<GateDecided>(d).allowed);
}

// It waited for a thread for that long.
TEST_F(GateTest, GateThatHasNotBegun_DoesNotTimeOut) {
    asks_for({gated(plain())});
    EffectId const asked = outstanding(state).begin()->first;
    State waiting = state;
    for (int minute = 0; minute < 3; ++minute) {
        now += limits::gate_time_limit;
        auto tick = request_of(Tick{});
        tick.context.gates_not_begun = {1};
        EXPECT_EQ(types(tick.decided_on(waiting)), "") << "nothing is written while it waits";
    }
    ASSERT_EQ(outstanding(waiting).size(), 1U);
    EXPECT_EQ(outstanding(waiting).begin()->first, asked) << "it keeps its place";
    EXPECT_EQ(types(request_of(Tick{}).decided_on(waiting)), "gate_decided model_requested");
}

TEST_F(GateTest, DecisionOfAnotherGateOrCall_IsDropped) {
    asks_for({gated(plain(), {"first", "second"}), plain()});
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(types(when(GateOutcome{1, "first", GateOutcome::Deny{"late"}})), "");
    EXPECT_EQ(types(when(GateOutcome{2, "first", GateOutcome::Deny{"not gated"}})), "");
    EXPECT_EQ(types(when(GateOutcome{9, "first", GateOutcome::Deny{"no such call"}})), "");
}

TEST_F(GateTest, Crash_AsksTheGateAgainAndWritesNothing) {
    asks_for({gated(plain())});
    EXPECT_EQ(types(restart()), "");
    EXPECT_TRUE(find_effect<AskGate>());
}

TEST_F(GateTest, CrashAfterTheDecision_GivesItToTheGateAgain) {
    asks_for({gated(plain())});
    (void)gate(1, approval());
    (void)submit(pending(1), decision(false));
    EXPECT_EQ(types(restart()), "");
    ASSERT_TRUE(find_effect<AskGate>() && find_effect<AskGate>()->decision);
    EXPECT_FALSE(find_effect<AskGate>()->decision->approved);
}

TEST_F(GateTest, Gates_TakeSlotsLikeTools) {
    slots(2);
    asks_for(std::vector<CallSpec>(4, gated(plain())));
    EXPECT_EQ(outstanding(state).size(), 2U);
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(outstanding(state).size(), 2U);
    while (!state.calls.empty()) {
        CallNo const no = outstanding(state).begin()->first.call;
        (void)(call(no).phase == CallPhase::gating ? gate(no, GateOutcome::Deny{"no"})
                                                   : finish(no));
    }
    EXPECT_TRUE(find_effect<AskModel>());
}

TEST_F(GateTest, ApprovalDeadline_MayDeny) {
    asks_for({gated(plain())});
    PauseTerms terms = approval();
    terms.timeout = Duration(60'000);
    terms.on_deadline = OnDeadline::deny;
    (void)gate(1, terms);
    auto const d = later(Duration(60'000));
    EXPECT_EQ(types(d), "expired model_requested");
    EXPECT_EQ(first<Expired>(d).reason, ErrorReason::denied);
}

// B11: decisions of the chain also hold when the tool continues after its own pause.
TEST_F(GateTest, Decisions_HoldAfterTheToolsOwnPause) {
    asks_for({gated(pausing(PauseReason::approval), {"first", "second"})});
    (void)gate(1, GateOutcome::Allow{});
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1, approval());
    EXPECT_EQ(types(submit(pending(1), decision(true))), "submitted tool_started");
    ASSERT_TRUE(find_effect<RunTool>());
    EXPECT_TRUE(find_effect<RunTool>()->decision) << "no gate is asked twice";
    EXPECT_EQ(find_effect<AskGate>(), std::nullopt);
}

TEST_F(GateTest, ChangedArguments_AllGatesAreAskedAgain) {
    asks_for({gated(pausing(PauseReason::approval), {"first", "second"})});
    (void)gate(1, GateOutcome::Allow{});
    (void)gate(1, GateOutcome::Allow{});
    PauseTerms own = approval();
    own.state = quoted("step 2");
    (void)pauses(1, own);
    PendingId const pending_id = pending(1);
    Submission edited = decision(true);
    edited.arguments = json(R"({"to":"staging"})");
    edited.arguments_digest = sha256(edited.arguments.text());
    EXPECT_EQ(types(submit(pending_id, edited)), "submitted");
    ASSERT_TRUE(find_effect<AskGate>());
    EXPECT_EQ(find_effect<AskGate>()->gate, "first");
    EXPECT_EQ(find_effect<AskGate>()->input, edited.arguments);
    EXPECT_EQ(find_effect<AskGate>()->decision, std::nullopt) << "the answer was for the tool";
    (void)gate(1, approval());  // the first gate asks a person
    (void)restart();
    EXPECT_EQ(types(submit(pending(1), decision(true, "fine"))), "submitted");
    ASSERT_TRUE(find_effect<AskGate>() && find_effect<AskGate>()->decision);
    EXPECT_EQ(find_effect<AskGate>()->decision->reason, "fine");
    (void)gate(1, GateOutcome::Allow{});
    EXPECT_EQ(find_effect<AskGate>()->gate, "second");
    EXPECT_EQ(types(gate(1, GateOutcome::Allow{})), "gate_decided tool_started");
    auto const run = find_effect<RunTool>();
    ASSERT_TRUE(run && run->decision);
    EXPECT_EQ(run->input, edited.arguments);
    EXPECT_EQ(run->decision->arguments, edited.arguments)
        << "the tool's own answer, not the gate's";
    EXPECT_EQ(run->state, quoted("step 2"));
    EXPECT_EQ(call(1).spec.input_digest, edited.arguments_digest);
}

TEST_F(GateTest, ChangedArguments_AGateMayDeny) {
    asks_for({gated(pausing(PauseReason::approval), {"first"})});
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1, approval());
    Submission edited = decision(true);
    edited.arguments = json(R"({"to":"production"})");
    (void)submit(pending(1), edited);
    EXPECT_EQ(types(gate(1, GateOutcome::Deny{"denied: not there"})),
              "gate_decided model_requested");
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt);
}

TEST_F(GateTest, DenialWithArguments_ChangesNone) {
    asks_for({gated(pausing(PauseReason::approval), {"first"})});
    (void)gate(1, GateOutcome::Allow{});
    (void)pauses(1, approval());
    Submission denied = decision(false);
    denied.arguments = json(R"({"to":"staging"})");
    EXPECT_EQ(types(submit(pending(1), denied)), "submitted tool_started");
    EXPECT_NE(find_effect<RunTool>()->input, denied.arguments);
}

TEST_F(GateTest, ForbiddenPair_Denies) {
    asks_for({gated(plain())});
    PauseTerms wrong = approval();
    wrong.continuation = Continuation::message;
    EXPECT_EQ(types(gate(1, wrong)), "gate_decided model_requested");
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt);
}

}  // namespace
}  // namespace dormouse::session::testing
