#include "session/testing/session_fixture.h"

// Rules 4 and 6: when the model is asked again, when a turn ends, and which step consumes what.
namespace dormouse::session::testing {
namespace {

class JoinTest : public SessionTest {
protected:
    Decision settle(CallNo no) {
        return submit(pending(no), result("outcome " + std::to_string(no)));
    }
};

TEST_F(JoinTest, All_WaitsForEveryCall) {
    waits_for({job(), job(), job()});
    EXPECT_EQ(types(settle(2)), "submitted");
    EXPECT_EQ(types(settle(1)), "submitted");
    EXPECT_EQ(types(settle(3)), "submitted model_requested");
}

TEST_F(JoinTest, Each_AsksAtTheFirstAndKeepsTheRest) {
    join(1, false);
    waits_for({job(), job(), job()});
    EXPECT_EQ(types(settle(2)), "submitted model_requested");
    EXPECT_EQ(state.waiting, 2U);
    EXPECT_EQ(types(reply()), "model_replied") << "the turn does not end with open calls";
    EXPECT_EQ(activity(state), Activity::waiting_async);
    EXPECT_EQ(types(settle(1)), "submitted model_requested");
    EXPECT_EQ(types(settle(3)), "submitted") << "a request is in flight";
    EXPECT_EQ(types(reply()), "model_replied model_requested") << "what it did not see asks again";
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(JoinTest, Any_AsksAtTheFirstAndCancelsTheRest) {
    join(1, true);
    waits_for({job(), job(), job()});
    PendingId const third = pending(3);
    EXPECT_EQ(types(settle(2)), "submitted cancelled cancelled model_requested");
    EXPECT_EQ(answer_of(submit(third, result("late"))), "cancelled");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(JoinTest, Any_StartsNothingOnlyToCancelIt) {
    join(1, true);
    slots(1);
    asks_for({plain(), plain()});
    auto const d = finish(1);
    EXPECT_EQ(types(d), "tool_finished cancelled model_requested");
    EXPECT_FALSE(first<Cancelled>(d).may_have_run) << "there was no slot for it";
}

TEST_F(JoinTest, Any_IsMetByACallThatCannotRun) {
    join(1, true);
    (void)create();
    (void)prompt("please");
    CallSpec unknown = plain("no_such_tool");
    unknown.refused = "there is no such tool";
    EXPECT_EQ(types(reply({plain(), unknown})),
              "model_replied tool_finished cancelled model_requested");
}

TEST_F(JoinTest, Quorum_AsksAtTheNthAndEachLaterOne) {
    join(2, false);
    waits_for({job(), job(), job()});
    EXPECT_EQ(types(settle(3)), "submitted");
    EXPECT_EQ(types(settle(1)), "submitted model_requested");
    (void)reply();
    EXPECT_EQ(types(settle(2)), "submitted model_requested");
}

TEST_F(JoinTest, Quorum_LargerThanTheStep_IsAll) {
    join(5, false);
    waits_for({job(), job()});
    EXPECT_EQ(types(settle(1)), "submitted");
    EXPECT_EQ(types(settle(2)), "submitted model_requested");
}

TEST_F(JoinTest, CallRuns_ModelIsNotAsked) {
    join(1, false);
    asks_for({job(), plain()});
    (void)pauses(1);
    EXPECT_EQ(types(settle(1)), "submitted") << "the join is met, but a tool runs";
    EXPECT_EQ(types(finish(2)), "tool_finished model_requested");
}

TEST_F(JoinTest, SeveralOpenSteps_AllJoinsCount) {
    waits_for({job(), job()});
    (void)prompt("do this too", PromptMode::steer);
    (void)reply({job()});
    (void)pauses(3);
    EXPECT_EQ(types(settle(3)), "submitted") << "the first step is still open";
    EXPECT_EQ(types(settle(1)), "submitted");
    EXPECT_EQ(types(settle(2)), "submitted model_requested");
}

// A slot freed by a cancel is taken by a waiting call; otherwise nothing would wake the session.
TEST_F(JoinTest, Any_FreedSlotIsTaken) {
    join(1, true);
    slots(1);
    asks_for({pausing(PauseReason::approval)});
    (void)pauses(1, pause_for(PauseReason::approval));
    (void)prompt("meanwhile", PromptMode::steer);
    (void)reply({job(), plain()});
    (void)pauses(2);
    ASSERT_EQ(call(3).phase, CallPhase::running);
    (void)submit(pending(1), decision(true));
    ASSERT_EQ(call(1).phase, CallPhase::ready) << "no slot is free";
    EXPECT_EQ(types(settle(2)), "submitted cancelled tool_started");
}

TEST_F(JoinTest, Request_SeesEverythingUpToItself) {
    waits_for({job()});
    auto const d = settle(1);
    EXPECT_EQ(first<ModelRequested>(d).view_seq, d.events.front().seq);
    EXPECT_EQ(turn().newest_item, d.events.front().seq);
    EXPECT_LT(state.committed_view, turn().newest_item) << "asked is not consumed";
    (void)reply({plain()});
    EXPECT_EQ(state.committed_view, d.events.front().seq) << "committed is";
}

TEST_F(JoinTest, FailedAttempt_ConsumesNothing) {
    waits_for({job()});
    (void)settle(1);
    Seq const before = state.committed_view;
    (void)model_fails();
    EXPECT_EQ(state.committed_view, before);
    auto const again = later(Duration(60'000));
    EXPECT_GE(first<ModelRequested>(again).view_seq, turn().newest_item);
}

TEST_F(JoinTest, LaterAttempt_MayTakeANewerView) {
    join(1, false);
    waits_for({job(), job()});
    (void)settle(1);
    auto const second = settle(2);
    EXPECT_EQ(types(second), "submitted");
    auto const d = restart();
    EXPECT_GE(first<ModelRequested>(d).view_seq, second.events.front().seq);
    EXPECT_EQ(types(reply()), "model_replied turn_ended")
        << "both are consumed by the one step that committed";
}

TEST_F(JoinTest, InputDuringTheLastRequest_IsAskedNext) {
    (void)create();
    (void)prompt("please");
    (void)prompt("wait, also this", PromptMode::steer);
    EXPECT_EQ(types(reply()), "model_replied model_requested");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(JoinTest, EndedTurn_HasConsumedItsSettlements) {
    waits_for({job()});
    (void)cancel_turn();
    EXPECT_EQ(types(prompt("next")), "input_received turn_started model_requested");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(JoinTest, Steps_AreNumberedThroughTheTurn) {
    waits_for({job()});
    EXPECT_EQ(first<ModelRequested>(settle(1)).step, 2U);
    (void)reply({job()});
    (void)pauses(2);
    EXPECT_EQ(first<ModelRequested>(settle(2)).step, 3U);
    (void)reply();
    (void)prompt("next");
    EXPECT_EQ(turn().step, 1U);
}

}  // namespace
}  // namespace dormouse::session::testing
