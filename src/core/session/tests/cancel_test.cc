#include "session/testing/session_fixture.h"

// Rule 10: the three scopes of cancel.
namespace dormouse::session::testing {
namespace {

class CancelTest : public SessionTest {
protected:
    Decision cancel_all() { return when(Cancel{Cancel::Scope::all, {}}); }
};

TEST_F(CancelTest, WaitingCall_LeavesAReceiptAndTheTurnContinues) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    auto const d = cancel_call(pending_id);
    EXPECT_EQ(types(d), "cancelled model_requested");
    EXPECT_EQ(d.answer->receipt->status, CallStatus::cancelled);
    EXPECT_EQ(d.answer->receipt->pending, pending_id);
    EXPECT_EQ(d.answer->receipt->by, by);
    EXPECT_FALSE(first<Cancelled>(d).may_have_run);
}

TEST_F(CancelTest, Repeat_IsADuplicate) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    auto const once = cancel_call(pending_id);
    auto const again = cancel_call(pending_id);
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(again.answer->receipt, once.answer->receipt);
    EXPECT_EQ(types(again), "");
}

TEST_F(CancelTest, RunningCall_IsCancelledAtOnceAndMayHaveRun) {
    asks_for({plain()});
    auto const d = cancel_call(pending(1));
    EXPECT_EQ(types(d), "cancelled model_requested");
    EXPECT_TRUE(first<Cancelled>(d).may_have_run);
    EXPECT_TRUE(first<Cancelled>(d).receipt.has_value());
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt) << "what is no longer outstanding is stopped";
}

TEST_F(CancelTest, CallBetweenAttempts_MayHaveRun) {
    asks_for({plain()});
    (void)tool_fails(1, true);
    EXPECT_TRUE(first<Cancelled>(cancel_call(pending(1))).may_have_run);
    EXPECT_EQ(types(later(Duration(60'000))), "") << "the next try has gone with it";
}

TEST_F(CancelTest, OneCallOfAStep_TheRestIsAwaited) {
    waits_for({job(), job()});
    EXPECT_EQ(types(cancel_call(pending(1))), "cancelled");
    EXPECT_EQ(types(submit(pending(2), result("ok"))), "submitted model_requested");
}

TEST_F(CancelTest, SettledCall_AnswersWithItsOutcome) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("ok"));
    EXPECT_EQ(answer_of(cancel_call(pending_id)), "conflict");
    EXPECT_EQ(answer_of(cancel_call({id, 9, 1, {}})), "not_found");
}

TEST_F(CancelTest, Turn_SettlesItsCallsAndDropsItsRequest) {
    slots(2);
    join(1, false);
    asks_for({job(), plain(), gated(plain())});
    (void)pauses(1);
    auto const d = cancel_turn();
    EXPECT_EQ(types(d), "cancelled cancelled cancelled turn_ended");
    auto const calls = all<Cancelled>(d);
    EXPECT_FALSE(calls[0].may_have_run);
    EXPECT_TRUE(calls[1].may_have_run);
    EXPECT_FALSE(calls[2].may_have_run) << "its gate was being asked";
    EXPECT_EQ(calls[2].receipt, std::nullopt);
    EXPECT_EQ(what_class(), "idle");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

TEST_F(CancelTest, Turn_InRequestOrRetry_LeavesNoTimer) {
    (void)create();
    (void)prompt("one");
    EXPECT_EQ(types(cancel_turn()), "turn_ended");
    (void)prompt("two");
    (void)model_fails();
    EXPECT_EQ(types(cancel_turn()), "turn_ended");
    EXPECT_EQ(types(later(Duration(3'600'000))), "");
}

TEST_F(CancelTest, ReplyToACancelledTurn_IsDropped) {
    (void)create();
    (void)prompt("one");
    (void)cancel_turn();
    ModelReply reply;
    reply.turn = 1, reply.step = 1, reply.attempt = 1;
    EXPECT_EQ(types(when(reply)), "");
    (void)prompt("two");
    EXPECT_EQ(types(when(reply)), "") << "nor does it answer the next turn";
}

TEST_F(CancelTest, ReasonOfACall_IsInItsEvent) {
    asks_for({with_policy(job(), CrashPolicy::ask)});
    (void)restart();
    auto const d = when(Cancel{Cancel::Scope::call, pending(1), "another branch"});
    ASSERT_EQ(all<Cancelled>(d).size(), 2U) << "the question and the call";
    EXPECT_EQ(all<Cancelled>(d)[0].reason, "another branch");
    EXPECT_EQ(all<Cancelled>(d)[1].reason, "another branch");
}

TEST_F(CancelTest, OtherReason_IsStillADuplicate) {
    waits_for({job(), job()});
    PendingId const pending_id = pending(1);
    (void)when(Cancel{Cancel::Scope::call, pending_id, "one"});
    EXPECT_EQ(answer_of(when(Cancel{Cancel::Scope::call, pending_id, "two"})), "duplicate");
}

TEST_F(CancelTest, ReasonForEverything_IsInEachEvent) {
    waits_for({job()});
    (void)prompt("later", PromptMode::queue);
    auto const d = when(Cancel{Cancel::Scope::all, {}, "wrong repository"});
    EXPECT_EQ(types(d), "cancelled turn_ended input_dropped");
    EXPECT_EQ(first<Cancelled>(d).reason, "wrong repository");
    EXPECT_EQ(first<Cancelled>(d).why, "the turn was cancelled");
    EXPECT_EQ(first<TurnEnded>(d).reason, "wrong repository");
    EXPECT_EQ(first<InputDropped>(d).reason, "wrong repository");
}

TEST_F(CancelTest, WithoutAReason_NoEventHasOne) {
    waits_for({job()});
    (void)prompt("later", PromptMode::queue);
    auto const d = cancel_all();
    EXPECT_EQ(first<Cancelled>(d).reason, "");
    EXPECT_EQ(first<TurnEnded>(d).reason, "");
    EXPECT_EQ(first<InputDropped>(d).reason, "");
}

TEST_F(CancelTest, Turn_Cancelled_QueuedInputStarts) {
    (void)create();
    (void)prompt("one");
    (void)prompt("two");
    EXPECT_EQ(types(cancel_turn()), "turn_ended turn_started model_requested");
    EXPECT_EQ(turn().no, 2U);
}

TEST_F(CancelTest, All_DropsTheQueueAndKeepsTheSessionActive) {
    (void)create();
    (void)prompt("one");
    (void)prompt("two");
    (void)prompt("three");
    EXPECT_EQ(types(cancel_all()), "turn_ended input_dropped input_dropped");
    EXPECT_EQ(state.lifecycle, Lifecycle::active);
    EXPECT_EQ(what_class(), "idle");
    EXPECT_EQ(types(prompt("four")), "input_received turn_started model_requested");
}

TEST_F(CancelTest, Cancel_NothingOpen_WritesNothing) {
    (void)create();
    EXPECT_EQ(types(cancel_turn()), "");
    EXPECT_EQ(types(cancel_all()), "");
}

TEST_F(CancelTest, CallInDoubt_CancelsItsQuestion) {
    asks_for({with_policy(job(), CrashPolicy::ask)});
    (void)restart();
    PendingId const question = call(1).question->pending;
    auto const d = cancel_call(pending(1));
    EXPECT_EQ(types(d), "cancelled cancelled model_requested");
    EXPECT_EQ(archive.receipts.at(question).status, CallStatus::cancelled);
    EXPECT_TRUE(all<Cancelled>(d)[1].may_have_run);
}

}  // namespace
}  // namespace dormouse::session::testing
