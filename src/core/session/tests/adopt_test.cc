#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Rule 3: after a crash the new owner's first command resolves each interrupted run, once.
namespace dormouse::session::testing {
namespace {

constexpr Duration three_days{3 * 24 * 3'600'000LL};

class AdoptTest : public SessionTest {
protected:
    // A run of a tool with this policy was cut off, and the session adopted. `asked`: the run's id.
    Decision cut_off(CallSpec spec, CrashPolicy policy) {
        asks_for({with_policy(std::move(spec), policy)});
        run_ = pending(1);
        return restart();
    }
    PendingId question() const { return call(1).question->pending; }
    PendingId run_;
};

TEST_F(AdoptTest, NothingInDoubt_WritesNothing) {
    waits_for({job()});
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(what_class(), "waiting");
}

TEST_F(AdoptTest, SameEpoch_HasNothingInDoubt) {
    asks_for({with_policy(plain(), CrashPolicy::retry)});
    EXPECT_EQ(types(when(Adopt{})), "");
}

// The store fell back: this process ran it, and its outcome is lost.
TEST_F(AdoptTest, OwnEpochThatIsNamed_IsInDoubt) {
    asks_for({with_policy(plain(), CrashPolicy::retry)});
    EXPECT_EQ(types(when(Adopt{{}, {epoch}})), "tool_started");
}

TEST_F(AdoptTest, OlderEpochThatLives_IsLeftAlone) {
    asks_for({with_policy(plain(), CrashPolicy::retry)});
    crash();
    EXPECT_EQ(types(when(Adopt{})), "") << "another process runs it";
    EXPECT_EQ(types(when(Adopt{{}, {epoch}})), "");
    EXPECT_EQ(types(when(Adopt{{}, {epoch - 1}})), "tool_started");
}

TEST_F(AdoptTest, Request_CutOff_IsRepeatedAsNextAttempt) {
    (void)create();
    (void)prompt("please");
    auto const d = restart();
    EXPECT_EQ(types(d), "model_requested");
    EXPECT_EQ(first<ModelRequested>(d).step, 1U);
    EXPECT_EQ(first<ModelRequested>(d).attempt, 2U);
    EXPECT_EQ(first<ModelRequested>(d).epoch, epoch);
}

TEST_F(AdoptTest, PolicyRetry_RunsAgainUnderTheSameId) {
    auto const d = cut_off(plain(), CrashPolicy::retry);
    EXPECT_EQ(types(d), "tool_started");
    EXPECT_EQ(first<ToolStarted>(d).pending, run_)
        << "the idempotency key belongs to the generation";
    EXPECT_EQ(first<ToolStarted>(d).attempt, 2U);
    EXPECT_EQ(first<ToolStarted>(d).epoch, epoch);
}

TEST_F(AdoptTest, PolicyNever_ToolCannotPause_IsUnknownAtOnce) {
    auto const d = cut_off(plain(), CrashPolicy::never);
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::unknown);
}

TEST_F(AdoptTest, PolicyNever_ToolMayPause_WaitsForTheJobsResult) {
    auto const d = cut_off(job(), CrashPolicy::never);
    EXPECT_EQ(types(d), "in_doubt");
    EXPECT_EQ(first<CallInDoubt>(d).pending, run_);
    EXPECT_EQ(first<CallInDoubt>(d).question, std::nullopt);
    EXPECT_EQ(first<CallInDoubt>(d).deadline, now + limits::pause_timeout_default);
    EXPECT_EQ(types(submit(run_, result("deployed"))), "submitted model_requested");
}

TEST_F(AdoptTest, InDoubt_AtTheToolsDeadline_IsUnknown) {
    CallSpec spec = job();
    spec.terms.pause_timeout = Duration(60'000);
    (void)cut_off(spec, CrashPolicy::never);
    auto const d = later(Duration(60'000));
    EXPECT_EQ(types(d), "expired model_requested");
    EXPECT_EQ(first<Expired>(d).reason, ErrorReason::unknown);
    EXPECT_EQ(answer_of(submit(run_, result("late"))), "expired");
}

TEST_F(AdoptTest, PolicyNever_AfterDaysOfDownTime_IsInDoubtNotTimedOut) {
    asks_for({with_policy(job(), CrashPolicy::never), with_policy(plain(), CrashPolicy::never)});
    now += three_days;
    auto const d = restart();
    EXPECT_EQ(types(d), "in_doubt tool_finished");
    EXPECT_EQ(first<CallInDoubt>(d).deadline, now + limits::pause_timeout_default);
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::unknown);
    EXPECT_EQ(first<ToolFinished>(d).error, "outcome unknown");
}

TEST_F(AdoptTest, Request_AfterDaysOfDownTime_HasItsFullTimeAgain) {
    (void)create();
    (void)prompt("please");
    now += three_days;
    EXPECT_EQ(types(restart()), "model_requested");
    EXPECT_EQ(types(later(limits::model_time_limit - Duration(1))), "");
}

TEST_F(AdoptTest, PolicyAsk_AsksUnderAnIdOfItsOwn) {
    auto const d = cut_off(job(), CrashPolicy::ask);
    EXPECT_EQ(types(d), "in_doubt");
    ASSERT_TRUE(first<CallInDoubt>(d).question);
    EXPECT_NE(first<CallInDoubt>(d).question, run_);
    EXPECT_EQ(first<CallInDoubt>(d).question->call, 1U);
    EXPECT_EQ(answer_of(submit(question(), result("x"))), "wrong_kind");
    EXPECT_EQ(answer_of(submit(question(), doubt_decision("shrug"))), "invalid_result");
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(AdoptTest, Question_Unanswered_IsRemindedUntilAnswered) {
    limits.remind_after = Duration(60'000);
    limits.remind_every = Duration(100'000);
    (void)cut_off(job(), CrashPolicy::ask);
    PendingId const pending_id = question();
    EXPECT_EQ(types(later(Duration(59'999))), "");
    auto const d = later(Duration(1));
    EXPECT_EQ(types(d), "reminded");
    EXPECT_EQ(first<Reminded>(d).pending, pending_id);
    EXPECT_EQ(first<Reminded>(d).number, 1U);
    EXPECT_EQ(first<Reminded>(later(Duration(100'000))).number, 2U);
    (void)submit(question(), doubt_decision("run_again"));
    EXPECT_FALSE(state.timer_at.contains({1, TimerKind::remind}));
    EXPECT_FALSE(types(later(Duration(50'000))).contains("reminded"));
}

TEST_F(AdoptTest, NoQuestion_HasNoReminder) {
    limits.remind_after = Duration(60'000);
    (void)cut_off(job(), CrashPolicy::never);
    EXPECT_FALSE(state.timer_at.contains({1, TimerKind::remind}));
}

TEST_F(AdoptTest, RunAgain_RunsUnderTheFirstId) {
    (void)cut_off(job(), CrashPolicy::ask);
    auto const d = submit(question(), doubt_decision("run_again"));
    EXPECT_EQ(first<ToolStarted>(d).pending, run_);
    EXPECT_EQ(first<ToolStarted>(d).attempt, 2U);
    EXPECT_EQ(types(finish(1)), "submitted model_requested")
        << "it was listed, so it leaves a receipt";
    EXPECT_EQ(archive.receipts.at(run_).status, CallStatus::completed);
}

TEST_F(AdoptTest, RunAgain_ThenPause_ThenResult) {
    (void)cut_off(job(), CrashPolicy::ask);
    (void)submit(question(), doubt_decision("run_again"));
    EXPECT_EQ(types(pauses(1)), "call_paused");
    EXPECT_EQ(types(submit(run_, result("deployed"))), "submitted model_requested");
}

TEST_F(AdoptTest, RunAgain_WaitsForASlotAndAnActiveSession) {
    slots(1);
    (void)cut_off(job(), CrashPolicy::ask);
    (void)Given::move(Move::To::pause);
    auto const d = submit(question(), doubt_decision("run_again"));
    EXPECT_TRUE(all<ToolStarted>(d).empty());
    EXPECT_TRUE(outstanding(state).empty());
    EXPECT_EQ(all<ToolStarted>(Given::move(Move::To::resume)).size(), 1U);
}

TEST_F(AdoptTest, Succeeded_SettlesWithThePersonsOutput) {
    (void)cut_off(job(), CrashPolicy::ask);
    auto const d =
        submit(question(), doubt_decision("succeeded", R"({"url":"https://example.org"})"));
    EXPECT_EQ(types(d), "submitted submitted model_requested");
    EXPECT_EQ(all<Submitted>(d)[1].receipt.pending, run_);
    EXPECT_EQ(all<Submitted>(d)[1].what->output.text(), R"({"url":"https://example.org"})");
    EXPECT_EQ(answer_of(submit(run_, result("late"))), "conflict");
}

TEST_F(AdoptTest, GiveUp_IsUnknown_LaterResultIsExpired) {
    (void)cut_off(job(), CrashPolicy::ask);
    auto const d = submit(question(), doubt_decision("give_up"));
    EXPECT_EQ(types(d), "submitted expired model_requested");
    EXPECT_EQ(first<Expired>(d).reason, ErrorReason::unknown);
    EXPECT_EQ(answer_of(submit(run_, result("late"))), "expired");
}

TEST_F(AdoptTest, RealOutcome_SupersedesTheQuestion) {
    (void)cut_off(job(), CrashPolicy::ask);
    PendingId const pending_id = question();
    EXPECT_EQ(types(submit(run_, result("deployed"))), "cancelled submitted model_requested");
    EXPECT_EQ(archive.receipts.at(pending_id).status, CallStatus::cancelled);
    EXPECT_EQ(answer_of(submit(pending_id, doubt_decision("run_again"))), "cancelled");
}

TEST_F(AdoptTest, Deadline_ClosesTheQuestion) {
    (void)cut_off(job(), CrashPolicy::ask);
    PendingId const pending_id = question();
    EXPECT_EQ(types(later(limits::pause_timeout_default)), "cancelled expired model_requested");
    EXPECT_EQ(answer_of(submit(pending_id, doubt_decision("run_again"))), "expired");
}

TEST_F(AdoptTest, PolicyAsk_ToolCannotPause_WaitsOnlyForThePerson) {
    auto const d = cut_off(plain(), CrashPolicy::ask);
    EXPECT_EQ(types(d), "in_doubt");
    EXPECT_EQ(first<CallInDoubt>(d).deadline, std::nullopt);
    EXPECT_EQ(answer_of(submit(run_, result("x"))), "not_an_answerer");
    EXPECT_EQ(types(submit(question(), doubt_decision("succeeded", "1"))),
              "submitted submitted model_requested");
}

TEST_F(AdoptTest, FencedNodesToolResult_SettlesTheDoubtWithAReceipt) {
    (void)cut_off(job(), CrashPolicy::ask);
    PendingId const pending_id = question();
    auto const d = outcome(run_, 1, Done{quoted("it did run"), {}, {}});
    EXPECT_EQ(types(d), "cancelled submitted model_requested");
    EXPECT_EQ(archive.receipts.at(run_).via, "runtime");
    EXPECT_EQ(answer_of(submit(pending_id, doubt_decision("run_again"))), "cancelled");
    EXPECT_EQ(answer_of(submit(run_, result("another"))), "conflict")
        << "and not unknown: it was listed";
}

TEST_F(AdoptTest, FencedNodesResult_TooLarge_HasTheDigestOfItsError) {
    limits.output_bytes = 10;
    (void)cut_off(job(), CrashPolicy::ask);
    auto const d = outcome(run_, 1, Done{quoted(std::string(20, 'x')), {}, {}});
    Submission const what = first<Submitted>(d).what;
    EXPECT_EQ(what.kind, SubmissionKind::error);
    EXPECT_EQ(archive.receipts.at(run_).digest, error(what.error).digest);
}

TEST_F(AdoptTest, FencedNodesToolPause_EndsTheDoubt) {
    (void)cut_off(job(), CrashPolicy::never);
    EXPECT_EQ(types(outcome(run_, 1, PauseTerms{})), "call_paused");
    EXPECT_FALSE(call(1).in_doubt);
    auto const d = later(limits::pause_timeout_default);
    EXPECT_EQ(first<Expired>(d).reason, ErrorReason::expired);
}

TEST_F(AdoptTest, FirstOutcomeOfAnyAttempt_Settles) {
    (void)cut_off(plain(), CrashPolicy::retry);
    EXPECT_EQ(types(outcome(run_, 1, Done{quoted("first"), {}, {}})),
              "tool_finished model_requested");
    EXPECT_EQ(types(outcome(run_, 2, Done{quoted("second"), {}, {}})), "");
}

TEST_F(AdoptTest, CrashDuringTheSecondRun_IsInDoubtAgain) {
    (void)cut_off(job(), CrashPolicy::ask);
    PendingId const first_question = question();
    (void)submit(first_question, doubt_decision("run_again"));
    auto const d = restart();
    EXPECT_EQ(types(d), "in_doubt");
    EXPECT_EQ(first<CallInDoubt>(d).pending, run_);
    EXPECT_NE(question(), first_question);
    EXPECT_EQ(types(submit(run_, result("deployed"))), "cancelled submitted model_requested");
}

TEST_F(AdoptTest, SeveralRuns_SomeFinished_OnlyUnfinishedAreResolved) {
    asks_for({with_policy(plain(), CrashPolicy::retry), job(),
              with_policy(plain(), CrashPolicy::retry)});
    (void)finish(1);
    (void)pauses(2);
    auto const d = restart();
    EXPECT_EQ(types(d), "tool_started");
    EXPECT_EQ(first<ToolStarted>(d).pending.call, 3U);
}

TEST_F(AdoptTest, RetryDueWhileDown_Runs) {
    asks_for({plain()});
    (void)tool_fails(1, true);
    now += three_days;
    EXPECT_EQ(types(restart()), "tool_started");
}

TEST_F(AdoptTest, IdleSession_WritesNothing) {
    (void)create();
    EXPECT_EQ(types(restart()), "");
    (void)Given::move(Move::To::end);
    EXPECT_EQ(types(restart()), "");
}

}  // namespace
}  // namespace dormouse::session::testing
