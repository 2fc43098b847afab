#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Rule 7: the four modes, in every status of the session.
namespace dormouse::session::testing {
namespace {

class PromptTest : public SessionTest {
protected:
    Prompt make(std::string const& text) {
        Prompt prompt;
        prompt.parts = parts(text);
        prompt.answer_output = quoted(text);
        prompt.answer_digest = result(text).digest;
        return prompt;
    }
    void busy_with_the_model() {
        (void)create();
        (void)prompt("first");
    }
};

class EveryMode : public PromptTest, public ::testing::WithParamInterface<PromptMode> {};

TEST_P(EveryMode, Idle_StartsATurn) {
    (void)create();
    auto const d = prompt("hello", GetParam());
    EXPECT_EQ(types(d), "input_received turn_started model_requested");
    EXPECT_EQ(d.answer->turn, 1U);
    EXPECT_EQ(d.answer->behind, std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode,
                         ::testing::Values(PromptMode::queue, PromptMode::steer,
                                           PromptMode::interrupt, PromptMode::reject),
                         [](auto const& mode) { return std::string(text(mode.param)); });

TEST_F(PromptTest, Queue_IsTheDefaultAndNamesTheTurnItWaitsFor) {
    busy_with_the_model();
    auto const d = prompt("second");
    EXPECT_EQ(types(d), "input_received");
    EXPECT_EQ(d.answer->turn, 2U);
    EXPECT_EQ(d.answer->behind, 1U);
}

TEST_F(PromptTest, QueuedAndRepeatedByItsKey_AnswersTheSame) {
    busy_with_the_model();
    auto const send = [&] {
        idem_key = "key";
        idem_digest = "digest";
        return prompt("second");
    };
    auto const first = send();
    EXPECT_EQ(first.answer->behind, 1U);
    for (int i = 0; i < 2; ++i) {
        auto const again = send();
        EXPECT_EQ(answer_of(again), "duplicate");
        EXPECT_EQ(again.answer->turn, first.answer->turn);
        EXPECT_EQ(again.answer->behind, 1U);
        (void)reply();  // also after its own turn has begun
    }
}

TEST_F(PromptTest, NotQueuedAndRepeatedByItsKey_IsBehindNothing) {
    (void)create();
    for (int i = 0; i < 2; ++i) {
        idem_key = "key";
        idem_digest = "digest";
        EXPECT_EQ(prompt("first").answer->behind, std::nullopt);
    }
}

TEST_F(PromptTest, Queued_StartsInTheAppendThatEndsTheTurn) {
    busy_with_the_model();
    (void)prompt("second");
    (void)prompt("third");
    auto const d = reply();
    EXPECT_EQ(types(d), "model_replied turn_ended turn_started model_requested");
    EXPECT_EQ(turn().no, 2U);
    EXPECT_EQ(types(reply()), "model_replied turn_ended turn_started model_requested");
    EXPECT_EQ(turn().no, 3U);
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
    EXPECT_EQ(what_class(), "idle");
}

TEST_F(PromptTest, Steer_DuringARequest_IsSeenByTheNext) {
    busy_with_the_model();
    auto const steer = prompt("and tests", PromptMode::steer);
    EXPECT_EQ(types(steer), "input_received");
    EXPECT_EQ(steer.answer->turn, 1U);
    auto const d = reply();
    EXPECT_EQ(types(d), "model_replied model_requested")
        << "what came during the last request is not lost";
    EXPECT_GE(first<ModelRequested>(d).view_seq, steer.answer->seq);
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(PromptTest, Steer_WhileAToolRuns_WaitsForIt) {
    asks_for({plain()});
    EXPECT_EQ(types(prompt("hurry", PromptMode::steer)), "input_received");
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
}

TEST_F(PromptTest, Steer_WhileWaiting_AsksNowAndOverridesTheJoinOnce) {
    waits_for({job(), job()});
    EXPECT_EQ(types(prompt("how is it?", PromptMode::steer)), "input_received model_requested");
    EXPECT_EQ(state.waiting, 2U);
    EXPECT_EQ(types(reply()), "model_replied");
    EXPECT_EQ(activity(state), Activity::waiting_async);
    EXPECT_EQ(types(submit(pending(1), result("a"))), "submitted") << "the join counts again";
    EXPECT_EQ(types(submit(pending(2), result("b"))), "submitted model_requested");
}

TEST_F(PromptTest, Interrupt_AbandonsTheRequest) {
    busy_with_the_model();
    auto const d = prompt("stop, do this", PromptMode::interrupt);
    EXPECT_EQ(types(d), "model_failed input_received model_requested");
    EXPECT_EQ(first<ModelFailed>(d).retry_at, std::nullopt);
    EXPECT_EQ(first<ModelRequested>(d).step, 1U);
    EXPECT_EQ(first<ModelRequested>(d).attempt, 2U);
    EXPECT_EQ(outstanding(state).size(), 1U);
}

TEST_F(PromptTest, Interrupt_DuringARetryWait_AsksAtOnce) {
    busy_with_the_model();
    (void)model_fails();
    ASSERT_EQ(activity(state), Activity::retry);
    auto const d = prompt("now", PromptMode::interrupt);
    EXPECT_EQ(all<ModelRequested>(d).size(), 1U);
    EXPECT_EQ(activity(state), Activity::busy);
}

TEST_F(PromptTest, Interrupt_IsNoFailureOfTheModel) {
    busy_with_the_model();
    for (std::uint32_t i = 0; i < limits::model_failures_max + 1; ++i)
        (void)prompt("no, this", PromptMode::interrupt);
    EXPECT_EQ(types(model_fails()), "model_failed") << "the first failure is tried again";
}

TEST_F(PromptTest, Interrupt_CancelsRunningAndKeepsWaitingCalls) {
    slots(2);
    asks_for({job(), plain(), plain()});
    (void)pauses(1);
    auto const d = prompt("never mind", PromptMode::interrupt);
    EXPECT_EQ(types(d), "cancelled cancelled input_received model_requested");
    EXPECT_TRUE(all<Cancelled>(d)[0].may_have_run);
    EXPECT_EQ(state.waiting, 1U) << "outside calls stay open";
    EXPECT_EQ(state.calls.size(), 1U);
    EXPECT_EQ(find_effect<RunTool>(), std::nullopt);
}

TEST_F(PromptTest, Interrupt_CallNotStarted_HasNotRun) {
    slots(1);
    asks_for({plain(), plain()});
    auto const cancelled = all<Cancelled>(prompt("no", PromptMode::interrupt));
    ASSERT_EQ(cancelled.size(), 2U);
    EXPECT_TRUE(cancelled[0].may_have_run);
    EXPECT_FALSE(cancelled[1].may_have_run);
    EXPECT_EQ(cancelled[1].receipt, std::nullopt);
}

TEST_F(PromptTest, Reject_DuringATurn_IsBusyAndNamesOpenCalls) {
    waits_for({job()});
    auto const d = prompt("me?", PromptMode::reject);
    EXPECT_EQ(answer_of(d), "session_busy");
    EXPECT_EQ(types(d), "");
    EXPECT_NE(d.answer.error().detail.find(pending(1).text()), std::string::npos);
}

TEST_F(PromptTest, FullQueue_Refuses) {
    busy_with_the_model();
    for (std::size_t i = 0; i < limits::queue_max; ++i)
        ASSERT_EQ(answer_of(prompt("more")), "applied");
    auto const d = prompt("one too many");
    EXPECT_EQ(answer_of(d), "queue_full");
    EXPECT_EQ(types(d), "");
    EXPECT_EQ(answer_of(prompt("steering is not queued", PromptMode::steer)), "applied");
}

TEST_F(PromptTest, Text_OverOneMebibyte_IsTooLarge) {
    (void)create();
    EXPECT_EQ(answer_of(prompt(std::string(limits::prompt_bytes_max + 1, 'x'))), "too_large");
    EXPECT_EQ(answer_of(prompt(std::string(limits::prompt_bytes_max, 'x'))), "applied");
}

TEST_F(PromptTest, SameKeyAndBody_AnswersWithTheFirstMessage) {
    busy_with_the_model();
    idem_key = "key", idem_digest = "body";
    auto const once = prompt("second");
    idem_key = "key", idem_digest = "body";
    auto const again = prompt("second");
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(again.answer->seq, once.answer->seq);
    EXPECT_EQ(again.answer->turn, once.answer->turn);
}

TEST_F(PromptTest, SameKeyOtherBody_IsAMismatch) {
    busy_with_the_model();
    idem_key = "key", idem_digest = "body";
    (void)prompt("second");
    idem_key = "key", idem_digest = "another body";
    auto const d = prompt("third");
    EXPECT_EQ(answer_of(d), "idempotency_mismatch");
    EXPECT_EQ(types(d), "");
}

TEST_F(PromptTest, Key_OutlivesTheSessionsEnd) {
    busy_with_the_model();
    idem_key = "key", idem_digest = "body";
    (void)prompt("second");
    (void)move(Move::To::end);
    idem_key = "key", idem_digest = "body";
    EXPECT_EQ(answer_of(prompt("second")), "duplicate");
}

TEST_F(PromptTest, CompletedSession_RefusesUnlessReopened) {
    (void)create();
    (void)move(Move::To::end);
    EXPECT_EQ(answer_of(prompt("hello?")), "wrong_state");
    Prompt again = make("hello again");
    again.reopen = true;
    EXPECT_EQ(types(when(again)), "status_changed input_received turn_started model_requested");
    EXPECT_EQ(state.ended, std::nullopt);
}

TEST_F(PromptTest, Reopened_CancelledCallsStayCancelled) {
    waits_for({job()});
    PendingId const old = pending(1);
    (void)move(Move::To::end);
    Prompt again = make("continue");
    again.reopen = true;
    (void)when(again);
    EXPECT_TRUE(state.calls.empty());
    EXPECT_EQ(answer_of(submit(old, result("late"))), "cancelled");
}

TEST_F(PromptTest, RefusedReopening_ChangesNothing) {
    waits_for({pausing(PauseReason::user_input)});
    PendingId const unknown{id, 99, 1, {}};
    (void)move(Move::To::end);
    Prompt answer = make("late");
    answer.reopen = true;
    answer.answers = unknown;
    auto const d = when(answer);
    EXPECT_EQ(answer_of(d), "not_found");
    EXPECT_EQ(types(d), "");
    EXPECT_EQ(state.lifecycle, Lifecycle::completed);
}

TEST_F(PromptTest, Paused_QueuesIt_ResumeStartsIt) {
    (void)create();
    (void)move(Move::To::pause);
    EXPECT_EQ(types(prompt("later")), "input_received");
    EXPECT_EQ(wake_at(state), std::nullopt);
    EXPECT_EQ(types(move(Move::To::resume)), "status_changed turn_started model_requested");
}

TEST_F(PromptTest, SessionInError_Refuses) {
    (void)create();
    (void)move(Move::To::fail);
    EXPECT_EQ(answer_of(prompt("hello?")), "wrong_state");
}

}  // namespace
}  // namespace dormouse::session::testing
