#include "session/limits.h"
#include "session/testing/session_fixture.h"

// The crash windows, one for each test: the process dies right after one append; what does the next
// process do?
namespace dormouse::session::testing {
namespace {

class CrashWindow : public SessionTest {};

TEST_F(CrashWindow, BeforeTheReply_StepIsRepeated) {
    (void)create();
    (void)prompt("please");
    EXPECT_EQ(types(restart()), "model_requested");
    EXPECT_EQ(state.messages, 1U);
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(CrashWindow, AfterTheReply_ToolsStart) {
    slots(1);
    asks_for({with_policy(plain(), CrashPolicy::retry), plain()});
    (void)restart();
    (void)finish(1);
    ASSERT_TRUE(find_effect<RunTool>());
    EXPECT_EQ(find_effect<RunTool>()->pending.call, 2U);
    EXPECT_EQ(find_effect<RunTool>()->attempt, 1U) << "the second had not run: it is not in doubt";
}

TEST_F(CrashWindow, ToolRunning_FollowsItsCrashPolicy) {
    asks_for({with_policy(plain(), CrashPolicy::retry), with_policy(plain(), CrashPolicy::ask),
              with_policy(plain(), CrashPolicy::never)});
    EXPECT_EQ(types(restart()), "tool_started in_doubt tool_finished");
}

TEST_F(CrashWindow, ParallelTools_OnlyUnfinishedRunAgain) {
    CallSpec const again = with_policy(plain(), CrashPolicy::retry);
    asks_for({again, again, again});
    (void)finish(2);
    auto const d = restart();
    EXPECT_EQ(types(d), "tool_started tool_started");
    EXPECT_EQ(all<ToolStarted>(d)[0].pending.call, 1U);
    EXPECT_EQ(all<ToolStarted>(d)[1].pending.call, 3U);
}

TEST_F(CrashWindow, JobStarted_PauseNotSaved_SubmissionIsAccepted) {
    asks_for({with_policy(job(), CrashPolicy::never)});
    PendingId const given_to_the_job = pending(1);
    (void)restart();
    EXPECT_EQ(types(submit(given_to_the_job, result("deployed"))), "submitted model_requested");
}

TEST_F(CrashWindow, Paused_NothingIsOutstandingAndNothingIsWritten) {
    waits_for({job()});
    EXPECT_EQ(types(restart()), "");
    EXPECT_TRUE(outstanding(state).empty());
    EXPECT_EQ(types(submit(pending(1), result("ok"))), "submitted model_requested");
}

TEST_F(CrashWindow, BeforeASubmissionsAppend_RedeliveryWorks) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    auto const lost = request_of(Submit{pending_id, result("ok"), "http", {}, {}, {}});
    State undurable = state;
    ASSERT_EQ(answer_of(lost.decided_on(undurable)), "applied");
    (void)restart();
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "applied") << "an append is atomic";
}

TEST_F(CrashWindow, DuringReentry_TheWrittenStartDecides) {
    asks_for({with_policy(pausing(PauseReason::approval), CrashPolicy::never)});
    (void)pauses(1, pause_for(PauseReason::approval));
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, decision(true));
    auto const d = restart();
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::unknown) << "it may have run";
    auto const again = submit(pending_id, decision(true));
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "") << "redelivery does not run it again";
}

TEST_F(CrashWindow, ContinuationSaved_IsOutstandingAfterTheRestart) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("ok"));
    crash();
    EXPECT_EQ(wake_at(state), from_ms(0)) << "found by the index";
    EXPECT_EQ(types(adopt()), "model_requested");
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "duplicate");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(CrashWindow, DuringAContinuation_TheSameRulesHold) {
    waits_for({job()});
    (void)submit(pending(1), result("ok"));
    (void)reply({with_policy(plain(), CrashPolicy::retry)});
    EXPECT_EQ(types(restart()), "tool_started");
    (void)finish(2);
    EXPECT_EQ(types(restart()), "model_requested");
    EXPECT_EQ(turn().step, 3U);
}

TEST_F(CrashWindow, Progress_IsRepeatedByItsKey) {
    waits_for({job()});
    EXPECT_EQ(answer_of(when(Progress{pending(1), quoted("50%"), "p-1"})), "applied");
    (void)restart();
    auto const again = when(Progress{pending(1), quoted("50%"), "p-1"});
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "");
}

TEST_F(CrashWindow, DeadlineWhileDown_IsFoundAtStart) {
    waits_for({job()});
    now += limits::pause_timeout_default * 2;
    crash();
    EXPECT_LE(wake_at(state), now) << "found by the index";
    EXPECT_EQ(types(adopt()), "expired model_requested");
}

TEST_F(CrashWindow, DuringAWrite_EveryPrefixOfAppendsIsAState) {
    waits_for({gated(job()), job()});
    std::vector<Event> const log = archive.log;
    State prefix;
    prefix.id = id;
    for (Event const& event : log) {
        apply(prefix, event);
        EXPECT_EQ(prefix.head, event.seq);
        Derived const derived = derive(prefix);
        EXPECT_EQ(derived.waiting, prefix.waiting);
        EXPECT_EQ(derived.in_work, prefix.in_work);
    }
    EXPECT_EQ(prefix, state);
}

}  // namespace
}  // namespace dormouse::session::testing
