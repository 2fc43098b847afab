#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Replies and failures of the model: rules 2, 4 and 9.
namespace dormouse::session::testing {
namespace {

class ModelTest : public SessionTest {
protected:
    void create_and_prompt() {
        (void)create();
        (void)prompt("please");
    }
};

TEST_F(ModelTest, ReplyWithoutCalls_EndsTheTurn) {
    create_and_prompt();
    auto const d = reply();
    EXPECT_EQ(types(d), "model_replied turn_ended");
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::stop);
    EXPECT_EQ(d.events.back().activity, Activity::idle);
    EXPECT_EQ(what_class(), "idle");
}

TEST_F(ModelTest, PromptToolReply_IsFourAppends) {
    (void)create();
    EXPECT_EQ(types(prompt("please")), "input_received turn_started model_requested");
    EXPECT_EQ(types(reply({plain()})), "model_replied tool_started");
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(ModelTest, Tools_StartOnlyInFreeSlots) {
    slots(2);
    create_and_prompt();
    EXPECT_EQ(types(reply({plain(), plain(), plain(), plain()})),
              "model_replied tool_started tool_started");
    EXPECT_EQ(types(finish(2)), "tool_finished tool_started")
        << "the next starts in the append that made room";
    EXPECT_EQ(types(pauses(3)), "tool_finished tool_started") << "undeclared";
    EXPECT_EQ(types(finish(1)), "tool_finished");
    EXPECT_EQ(types(finish(4)), "tool_finished model_requested");
}

TEST_F(ModelTest, WaitingCall_TakesNoSlot) {
    slots(1);
    asks_for({job(), plain()});
    EXPECT_EQ(types(pauses(1)), "call_paused tool_started");
}

TEST_F(ModelTest, CallThatCannotRun_IsAnErrorForTheModel) {
    create_and_prompt();
    CallSpec unknown = plain("no_such_tool");
    unknown.refused = "there is no tool 'no_such_tool'";
    auto const d = reply({unknown});
    EXPECT_EQ(types(d), "model_replied tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::failed);
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt);
}

TEST_F(ModelTest, TruncatedReply_ItsCallsAreDropped) {
    create_and_prompt();
    auto const d = reply({job()}, FinishReason::length);
    EXPECT_EQ(types(d), "model_replied turn_ended");
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::length);
    EXPECT_EQ(first<ModelReplied>(d).parts, parts("well")) << "its text is kept";
    EXPECT_TRUE(first<ModelReplied>(d).calls.empty());
}

TEST_F(ModelTest, OnlyTheNewestAttempt_Commits) {
    create_and_prompt();
    ModelReply old;
    old.turn = 1, old.step = 1, old.attempt = 1;
    (void)restart();
    EXPECT_EQ(turn().attempt, 2U);
    EXPECT_EQ(types(when(old)), "");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
    EXPECT_EQ(types(when(old)), "");
}

TEST_F(ModelTest, RetryableFailure_HasATimeForTheNextAttempt) {
    create_and_prompt();
    auto const d = model_fails();
    EXPECT_EQ(types(d), "model_failed");
    Time const at = first<ModelFailed>(d).retry_at.value();
    EXPECT_GE(at, now + limits::retry_base / 2);
    EXPECT_LE(at, now + limits::retry_base);
    EXPECT_EQ(wake_at(state), at);
    EXPECT_EQ(activity(state), Activity::retry);
    now = at - Duration(1);
    EXPECT_EQ(types(tick()), "");
    auto const again = later(Duration(1));
    EXPECT_EQ(types(again), "model_requested");
    EXPECT_EQ(first<ModelRequested>(again).step, 1U);
    EXPECT_EQ(first<ModelRequested>(again).attempt, 2U);
}

TEST_F(ModelTest, ProvidersRetryTime_IsUsed) {
    create_and_prompt();
    auto const d = when(ModelFailure{1, 1, 1, {"model_failed", "429"}, true, Duration(20'000)});
    EXPECT_EQ(first<ModelFailed>(d).retry_at, now + Duration(20'000));
}

TEST_F(ModelTest, InputDuringARetryWait_IsSeenByTheRetry) {
    create_and_prompt();
    (void)model_fails();
    auto const steer = prompt("and this", PromptMode::steer);
    auto const again = later(limits::retry_max);
    EXPECT_GE(first<ModelRequested>(again).view_seq, steer.answer->seq);
}

TEST_F(ModelTest, LastFailure_EndsTheTurnNotTheSession) {
    create_and_prompt();
    for (std::uint32_t i = 1; i < limits::model_failures_max; ++i) {
        ASSERT_EQ(types(model_fails()), "model_failed");
        ASSERT_EQ(types(later(limits::retry_max)), "model_requested");
    }
    auto const d = model_fails();
    EXPECT_EQ(types(d), "model_failed turn_ended");
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::error);
    EXPECT_EQ(state.lifecycle, Lifecycle::active);
    EXPECT_EQ(what_class(), "idle");
}

TEST_F(ModelTest, PermanentFailure_EndsTheTurnAndStartsTheNext) {
    create_and_prompt();
    (void)prompt("second");
    EXPECT_EQ(types(model_fails(false)), "model_failed turn_ended turn_started model_requested");
}

TEST_F(ModelTest, FailuresOfAnotherStep_DoNotCount) {
    create_and_prompt();
    for (std::uint32_t step = 0; step < limits::model_failures_max + 1; ++step) {
        ASSERT_EQ(types(model_fails()), "model_failed");
        (void)later(limits::retry_max);
        (void)reply({plain()});
        ASSERT_EQ(types(finish(step + 1)), "tool_finished model_requested");
    }
}

TEST_F(ModelTest, UnansweredRequest_IsGivenUpInTime) {
    create_and_prompt();
    now += limits::model_time_limit - Duration(1);
    EXPECT_EQ(types(tick()), "");
    auto const d = later(Duration(1));
    EXPECT_EQ(types(d), "model_failed");
    EXPECT_TRUE(first<ModelFailed>(d).retry_at.has_value());
}

TEST_F(ModelTest, StepLimit_SettlesTheCallsAndEndsTheTurn) {
    terms.step_limit = 2;
    join(1, false);
    asks_for({job(), plain()});
    (void)pauses(1);
    (void)finish(2);
    EXPECT_EQ(turn().step, 2U);
    (void)reply({plain()});
    auto const d = finish(3);
    EXPECT_EQ(types(d), "tool_finished cancelled turn_ended");
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::step_limit);
}

TEST_F(ModelTest, TooManyCallsInAReply_FailTheTurn) {
    create_and_prompt();
    auto const d = reply(std::vector<CallSpec>(limits::calls_per_reply_max + 1, plain()));
    EXPECT_EQ(types(d), "model_failed turn_ended");
}

TEST_F(ModelTest, OpenCalls_AreLimited) {
    join(1, false);
    create_and_prompt();
    CallSpec waits = job();
    waits.at_once = PauseTerms{};
    for (std::size_t open = 0; open < limits::open_calls_max; open += limits::calls_per_reply_max) {
        auto const d = reply(std::vector<CallSpec>(limits::calls_per_reply_max, waits));
        ASSERT_EQ(all<CallPaused>(d).size(), limits::calls_per_reply_max);
        (void)prompt("more", PromptMode::steer);
    }
    ASSERT_EQ(state.calls.size(), limits::open_calls_max);
    auto const d = reply({waits});
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::error);
    EXPECT_TRUE(state.calls.empty());
}

TEST_F(ModelTest, RegistrationTool_PausesWithItsStart) {
    create_and_prompt();
    CallSpec waits = job();
    waits.at_once = PauseTerms{};
    EXPECT_EQ(types(reply({waits, plain()})),
              "model_replied tool_started call_paused tool_started");
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(ModelTest, RegistrationTool_BehindAGate_KeepsItsPause) {
    slots(1);
    create_and_prompt();
    CallSpec waits = job();
    waits.at_once = PauseTerms{};
    (void)reply({waits, gated(plain())});
    (void)gate(2, GateOutcome::Allow{});
    for (int i = 0; i < 2 && state.in_work > 0; ++i) (void)finish(2);
    ASSERT_TRUE(state.calls.contains(1));
    EXPECT_EQ(call(1).phase, CallPhase::waiting) << "it paused and was never run";
}

TEST_F(ModelTest, RegistrationTool_WithoutASlot_KeepsItsPause) {
    slots(1);
    CallSpec tool = pausing(PauseReason::approval);
    asks_for({tool});
    (void)pauses(1, pause_for(PauseReason::approval));
    (void)prompt("meanwhile", PromptMode::steer);
    (void)submit(pending(1), decision(true));
    ASSERT_EQ(state.in_work, 1U) << "its re-entry runs while the model is asked";
    CallSpec waits = job();
    waits.at_once = PauseTerms{};
    (void)reply({waits});
    (void)finish(1);
    EXPECT_EQ(call(2).phase, CallPhase::waiting);
}

TEST_F(ModelTest, TurnUsage_SpansItsPauses) {
    waits_for({job()});
    (void)submit(pending(1), result("ok"));
    auto const d = reply();
    EXPECT_EQ(first<TurnEnded>(d).usage, (Usage{20, 10, 0}));
    EXPECT_EQ(state.usage, (Usage{20, 10, 0}));
}

TEST_F(ModelTest, QueuedRequest_IsNotGivenUp) {
    (void)create();
    (void)prompt("please");
    now += limits::model_time_limit * 3;
    auto tick = request_of(Tick{});
    tick.context.model_until = Time::max();
    State queued = state;
    EXPECT_EQ(types(tick.decided_on(queued)), "");
    EXPECT_EQ(turn().failures, 0U);
    tick.context.model_until = now;
    EXPECT_EQ(types(tick.decided_on(queued)), "model_failed") << "it was sent, and its time is up";
}

TEST_F(ModelTest, AttemptCutOffByACrash_IsNoFailure) {
    (void)create();
    (void)prompt("please");
    for (int i = 0; i < 6; ++i) (void)restart();
    EXPECT_EQ(find_effect<AskModel>()->attempt, 7U);
    EXPECT_EQ(find_effect<AskModel>()->failures, 0U);
    (void)model_fails();
    EXPECT_EQ(types(later(limits::retry_max)), "model_requested");
    EXPECT_EQ(find_effect<AskModel>()->failures, 1U);
}

}  // namespace
}  // namespace dormouse::session::testing
