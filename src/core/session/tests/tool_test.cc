#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Outcomes of tools: results, pauses, failures, and outcomes that come too late.
namespace dormouse::session::testing {
namespace {

class ToolTest : public SessionTest {};

TEST_F(ToolTest, Intent_IsWrittenBeforeTheRunWithItsPendingId) {
    asks_for({job()});
    auto const run = find_effect<RunTool>();
    ASSERT_TRUE(run);
    EXPECT_EQ(run->pending, pending(1));
    EXPECT_EQ(run->pending.session, id);
    EXPECT_EQ(run->pending.generation, 1U);
    EXPECT_EQ(run->attempt, 1U);
    EXPECT_EQ(run->input, job().input);
}

TEST_F(ToolTest, Outcome_AsksTheModelInTheSameAppend) {
    asks_for({plain()});
    auto const d = finish(1, "42");
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).output, quoted("42"));
    EXPECT_GE(first<ModelRequested>(d).view_seq, d.events.front().seq);
}

TEST_F(ToolTest, Failure_IsReportedToTheModelAndIsNotFatal) {
    asks_for({plain()});
    auto const d = tool_fails(1, false);
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::failed);
    EXPECT_EQ(first<ToolFinished>(d).error, "refused");
}

TEST_F(ToolTest, RetryableFailure_RunsAgainUnderTheSameId) {
    asks_for({plain()});
    PendingId const key = pending(1);
    auto const d = tool_fails(1, true);
    EXPECT_EQ(types(d), "tool_failed");
    EXPECT_EQ(activity(state), Activity::retry);
    Time const at = first<ToolFailed>(d).retry_at;
    EXPECT_EQ(wake_at(state), at);
    now = at;
    auto const again = tick();
    EXPECT_EQ(types(again), "tool_started");
    EXPECT_EQ(first<ToolStarted>(again).pending, key);
    EXPECT_EQ(first<ToolStarted>(again).attempt, 2U);
}

TEST_F(ToolTest, Attempts_AreBounded) {
    asks_for({plain()});
    for (std::uint32_t i = 1; i < limits::tool_attempts_max; ++i) {
        ASSERT_EQ(types(tool_fails(1, true)), "tool_failed");
        ASSERT_EQ(types(later(limits::retry_max)), "tool_started");
    }
    EXPECT_EQ(types(tool_fails(1, true)), "tool_finished model_requested");
}

// The append of a failure may be durable though its answer was lost; the lane then repeats it.
TEST_F(ToolTest, RepeatedFailure_IsNotThatOfTheNextAttempt) {
    asks_for({plain()});
    PendingId const key = pending(1);
    Failed const failed{"refused", true};
    EXPECT_EQ(types(outcome(key, 1, failed)), "tool_failed");
    EXPECT_EQ(types(outcome(key, 1, failed)), "");
    EXPECT_EQ(types(later(limits::retry_max)), "tool_started");
    EXPECT_EQ(types(outcome(key, 1, failed)), "");
    EXPECT_TRUE(find_effect<RunTool>());
    EXPECT_EQ(types(outcome(key, 1, Done{quoted("late"), {}, {}})), "tool_finished model_requested")
        << "what it did achieve settles the call";
}

TEST_F(ToolTest, Retries_WaitForAFreeSlot) {
    slots(2);
    asks_for(std::vector<CallSpec>(5, plain()));
    for (CallNo no = 1; no <= 5; ++no) (void)tool_fails(no, true);
    EXPECT_EQ(types(later(limits::retry_max)), "tool_started tool_started");
    EXPECT_EQ(types(finish(1)), "tool_finished tool_started");
    EXPECT_EQ(outstanding(state).size(), 2U);
}

TEST_F(ToolTest, ManyRetriesDueTogether_StayWithinTheEffectLimit) {
    slots(limits::tool_concurrency_max);
    std::size_t const count = limits::outstanding_max + 10;
    asks_for(std::vector<CallSpec>(count, plain()));
    for (CallNo no = 1; no <= count; ++no) (void)tool_fails(no, true);
    (void)later(limits::retry_max);
    EXPECT_EQ(outstanding(state).size(), limits::tool_concurrency_max);
}

TEST_F(ToolTest, Pause_SetsTheDeadline) {
    asks_for({job()});
    auto const d = pauses(1);
    EXPECT_EQ(types(d), "call_paused");
    EXPECT_EQ(first<CallPaused>(d).deadline, now + limits::pause_timeout_default);
    EXPECT_EQ(wake_at(state), now + limits::pause_timeout_default);
    EXPECT_EQ(activity(state), Activity::waiting_async);
    EXPECT_TRUE(outstanding(state).empty()) << "a waiting call is not outstanding";
}

TEST_F(ToolTest, Deadline_IsThePausesElseTheToolsElseADay) {
    CallSpec quick = job();
    quick.terms.pause_timeout = Duration(1'000);
    asks_for({quick, quick, quick});
    PauseTerms own;
    own.timeout = Duration(500);
    PauseTerms none;
    none.timeout = Duration::max();
    EXPECT_EQ(first<CallPaused>(pauses(1)).deadline, now + Duration(1'000));
    EXPECT_EQ(first<CallPaused>(pauses(2, own)).deadline, now + Duration(500));
    EXPECT_EQ(first<CallPaused>(pauses(3, none)).deadline, std::nullopt);
}

TEST_F(ToolTest, UndeclaredPause_IsAnErrorForTheModel) {
    asks_for({plain()});
    auto const d = pauses(1);
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_NE(first<ToolFinished>(d).error.find("without having declared"), std::string::npos);
}

TEST_F(ToolTest, ForbiddenPair_IsAnErrorForTheModel) {
    asks_for({job()});
    PauseTerms wrong;
    wrong.continuation = Continuation::message;
    EXPECT_EQ(types(pauses(1, wrong)), "tool_finished model_requested");
}

TEST_F(ToolTest, PauseTerms_ThatDoNotFit_AreAnErrorForTheModel) {
    PauseTerms polled, files, nobody;
    polled.continuation = Continuation::reentry;
    polled.poll_every = Duration(1'000);
    files.files = 1;
    nobody.answer.need = 0;
    for (PauseTerms const& wrong : {polled, files, nobody}) {
        EXPECT_FALSE(wrong.valid());
        *static_cast<Given*>(this) = Given();
        asks_for({job()});
        Decision const d = pauses(1, wrong);
        EXPECT_EQ(types(d), "tool_finished model_requested");
        EXPECT_EQ(first<ToolFinished>(d).error,
                  "the tool paused for tool_result with terms that do not fit");
    }
    EXPECT_TRUE(PauseTerms().valid());
}

TEST_F(ToolTest, OutcomeAfterACancel_IsANoteOncePerDigest) {
    asks_for({job(), job()});
    PendingId const key = pending(1);
    (void)cancel_call(key);
    auto const late = outcome(key, 1, Done{quoted("x"), {}, {}});
    EXPECT_EQ(types(late), "note");
    EXPECT_EQ(first<Note>(late).about, "late_outcome");
    EXPECT_EQ(types(outcome(key, 1, Done{quoted("x"), {}, {}})), "");
}

TEST_F(ToolTest, OutcomeAfterAnEarlyResult_IsANote) {
    asks_for({job()});
    PendingId const key = pending(1);
    EXPECT_EQ(types(submit(key, result("early"))), "submitted model_requested");
    EXPECT_EQ(types(outcome(key, 1, PauseTerms{})), "note");
    EXPECT_TRUE(state.calls.empty());
}

TEST_F(ToolTest, TimeLimit_EndsTheRun_LaterOutcomeChangesNothing) {
    CallSpec quick = plain();
    quick.terms.time_limit = Duration(5'000);
    asks_for({quick});
    PendingId const key = pending(1);
    auto const d = later(Duration(5'000));
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error, "the tool took longer than its time limit of 5 s");
    EXPECT_EQ(types(outcome(key, 1, Done{quoted("x"), {}, {}})), "");
}

TEST_F(ToolTest, Output_OverOneMebibyte_IsAnErrorForTheModel) {
    asks_for({plain()});
    auto const d = finish(1, std::string(limits::output_bytes_max, 'x'));
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::failed);
    EXPECT_TRUE(first<ToolFinished>(d).output.is_null());
}

TEST_F(ToolTest, ParallelCalls_SettleInAnyOrder) {
    asks_for({plain(), plain(), plain()});
    EXPECT_EQ(types(finish(3)), "tool_finished");
    EXPECT_EQ(types(finish(1)), "tool_finished");
    EXPECT_EQ(types(finish(2)), "tool_finished model_requested");
}

TEST_F(ToolTest, Reentry_RunsTheToolWithTheDecisionAndANewId) {
    asks_for({pausing(PauseReason::approval)});
    (void)pauses(1, pause_for(PauseReason::approval));
    PendingId const pending_id = pending(1);
    auto const d = submit(pending_id, decision(true));
    EXPECT_EQ(types(d), "submitted tool_started");
    auto const run = find_effect<RunTool>();
    ASSERT_TRUE(run && run->decision);
    EXPECT_TRUE(run->decision->approved);
    EXPECT_EQ(run->pending.generation, 2U);
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
}

TEST_F(ToolTest, Reentry_HasThePausesState_OnEveryAttempt) {
    asks_for({pausing(PauseReason::approval)});
    PauseTerms pause = pause_for(PauseReason::approval);
    pause.state = quoted("step 2");
    (void)pauses(1, pause);
    (void)submit(pending(1), decision(true));
    EXPECT_EQ(find_effect<RunTool>()->state, quoted("step 2"));
    EXPECT_EQ(find_effect<RunTool>()->turn, 1U);
    (void)tool_fails(1, true);
    (void)later(limits::retry_max);
    EXPECT_EQ(find_effect<RunTool>()->state, quoted("step 2"));
    (void)pauses(1, pause_for(PauseReason::approval));
    (void)submit(pending(1), decision(true));
    EXPECT_TRUE(find_effect<RunTool>()->state.is_null());
}

TEST_F(ToolTest, Reentry_AsksTheModelOnlyAfterItsEnd) {
    asks_for({pausing(PauseReason::elicitation)});
    (void)pauses(1, pause_for(PauseReason::elicitation));
    (void)submit(pending(1), decision(true));
    EXPECT_EQ(find_effect<AskModel>(), std::nullopt);
    EXPECT_EQ(types(tool_fails(1, true)), "tool_failed");
    (void)later(limits::retry_max);
    ASSERT_TRUE(find_effect<RunTool>());
    EXPECT_TRUE(find_effect<RunTool>()->decision) << "the next attempt has the decision too";
}

TEST_F(ToolTest, LostOutcome_PolicyRetry_RunsAgainUnderTheSameId) {
    asks_for({with_policy(plain(), CrashPolicy::retry)});
    PendingId const key = pending(1);
    auto const d = loses(1);
    EXPECT_EQ(types(d), "tool_failed");
    EXPECT_EQ(first<ToolFailed>(d).error, "no answer");
    auto const again = later(first<ToolFailed>(d).retry_at - now);
    EXPECT_EQ(types(again), "tool_started");
    EXPECT_EQ(first<ToolStarted>(again).pending, key);
}

TEST_F(ToolTest, LostOutcome_RetryAfter_IsUsedUpToALimit) {
    asks_for({with_policy(plain(), CrashPolicy::retry), with_policy(plain(), CrashPolicy::retry)});
    EXPECT_EQ(first<ToolFailed>(loses(1, Duration(90'000))).retry_at, now + Duration(90'000));
    EXPECT_EQ(first<ToolFailed>(loses(2, Duration::max())).retry_at, now + limits::retry_after_max);
}

TEST_F(ToolTest, LostOutcome_TooOften_IsTheCallsError) {
    asks_for({with_policy(plain(), CrashPolicy::retry)});
    for (std::uint32_t i = 1; i < limits::tool_attempts_max; ++i) {
        ASSERT_EQ(types(loses(1)), "tool_failed");
        ASSERT_EQ(types(later(limits::retry_max)), "tool_started");
    }
    auto const d = loses(1);
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::failed);
    EXPECT_EQ(first<ToolFinished>(d).error, "no answer");
}

TEST_F(ToolTest, LostOutcome_PolicyNever_ToolCannotPause_IsUnknown) {
    asks_for({with_policy(plain(), CrashPolicy::never)});
    auto const d = loses(1);
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::unknown);
    EXPECT_EQ(first<ToolFinished>(d).error, "outcome unknown: no answer");
}

TEST_F(ToolTest, LostOutcome_PolicyNever_ToolMayPause_WaitsForTheJob) {
    asks_for({with_policy(job(), CrashPolicy::never)});
    PendingId const key = pending(1);
    auto const d = loses(1);
    EXPECT_EQ(types(d), "in_doubt");
    EXPECT_EQ(first<CallInDoubt>(d).why, "no answer");
    EXPECT_EQ(first<CallInDoubt>(d).deadline, now + limits::pause_timeout_default);
    EXPECT_EQ(types(submit(key, result("deployed"))), "submitted model_requested");
}

TEST_F(ToolTest, LostOutcome_PolicyAsk_AsksAPerson) {
    asks_for({with_policy(plain(), CrashPolicy::ask)});
    PendingId const key = pending(1);
    EXPECT_EQ(types(loses(1)), "in_doubt");
    ASSERT_TRUE(call(1).question);
    auto const d = submit(call(1).question->pending, doubt_decision("run_again"));
    EXPECT_EQ(first<ToolStarted>(d).pending, key);
    EXPECT_EQ(types(loses(1)), "in_doubt") << "and asked again";
    EXPECT_EQ(types(submit(call(1).question->pending, doubt_decision("give_up"))),
              "submitted expired model_requested");
}

TEST_F(ToolTest, LostOutcome_OfAnOlderAttempt_IsIgnored) {
    asks_for({with_policy(plain(), CrashPolicy::retry)});
    PendingId const key = pending(1);
    (void)loses(1);
    EXPECT_EQ(types(outcome(key, 1, InDoubt{"twice", {}})), "");
    (void)later(limits::retry_max);
    EXPECT_EQ(types(outcome(key, 1, InDoubt{"late", {}})), "");
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
    EXPECT_EQ(types(outcome(key, 2, InDoubt{"later", {}})), "");
}

}  // namespace
}  // namespace dormouse::session::testing
