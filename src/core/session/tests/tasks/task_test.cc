#include "session/testing/task_fixture.h"

// The parent's side of tasks: how they start, and how their end is reported.
namespace dormouse::session::testing {
namespace {

// Start.

TEST_F(TaskTest, Start_ReturnsTheIdAndSendsTheRunInOneAppend) {
    (void)create();
    (void)prompt("please");
    Decision const d = tool_asks(ask(TaskAsk::What::start));
    EXPECT_EQ(types(d), "task_started tool_finished model_requested");
    EXPECT_EQ(output_in(d), "\"" + task_id_of(1) + "\"");
    auto const runs = sent<StartRun>(d);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].task, 1u);
    EXPECT_EQ(runs[0].run, 1u);
    EXPECT_EQ(runs[0].agent, "demo");
    EXPECT_EQ(runs[0].parts, parts("look it up"));
    EXPECT_EQ(runs[0].by, (Actor{ActorType::token, "ann"}));  // the requester of the turn
    EXPECT_EQ(d.outbox[0].to, state.tasks.at(1).child);
    EXPECT_EQ(d.sessions, 1u);
    EXPECT_EQ(status(1), TaskStatus::running);
}

TEST_F(TaskTest, Start_RepeatedOutcome_StartsNoSecondTask) {
    (void)create();
    (void)prompt("please");
    (void)reply({task_tool()});
    PendingId const tool = pending(1);
    (void)outcome(tool, 1, ask(TaskAsk::What::start));
    Decision const again = outcome(tool, 1, ask(TaskAsk::What::start));
    EXPECT_TRUE(again.outbox.empty());
    EXPECT_EQ(state.tasks.size(), 1u);
}

TEST_F(TaskTest, Start_CrashBeforeTheOutcome_StartsOneTask) {
    (void)create();
    (void)prompt("please");
    (void)reply({task_tool()});
    (void)restart();
    ASSERT_TRUE(find_effect<RunTool>());
    Decision const d = outcome(pending(1), 2, ask(TaskAsk::What::start));
    EXPECT_EQ(sent<StartRun>(d).size(), 1u);
    EXPECT_EQ(state.tasks.size(), 1u);
}

TEST_F(TaskTest, Start_OverTheLimit_RunsWaitInOrder) {
    (void)create();
    for (std::size_t i = 0; i < limits::tasks_running_max + 2; ++i)
        (void)when(ask(TaskAsk::What::start));
    TaskNo const ninth = limits::tasks_running_max + 1;
    EXPECT_NE(state.tasks.at(ninth).queued, 0u);
    EXPECT_EQ(status(ninth), TaskStatus::running);
    Decision const d = ends(3, 1, "done");
    auto const runs = sent<StartRun>(d);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].task, ninth);
    EXPECT_EQ(runs[0].parts, parts("look it up"));
    EXPECT_EQ(state.tasks.at(ninth).queued, 0u);
    EXPECT_NE(state.tasks.at(ninth + 1).queued, 0u);
}

TEST_F(TaskTest, QueuedTask_Cancelled_CreatesNoSession) {
    (void)create();
    for (std::size_t i = 0; i <= limits::tasks_running_max; ++i)
        (void)when(ask(TaskAsk::What::start));
    TaskNo const ninth = limits::tasks_running_max + 1;
    EXPECT_TRUE(when(ask(TaskAsk::What::cancel, task_id_of(ninth))).outbox.empty());
    EXPECT_EQ(status(ninth), TaskStatus::cancelled);
    EXPECT_TRUE(when(ask(TaskAsk::What::clear, task_id_of(ninth))).outbox.empty());
}

TEST_F(TaskTest, Start_OverTheDepthLimit_IsRefused) {
    (void)create();
    state.parent = Parent{id, 1, limits::task_depth_max};
    State copy = state;
    Decision const d = request_of(ask(TaskAsk::What::start)).decided_on(copy);
    EXPECT_EQ(answer_of(d), "queue_full");
    EXPECT_TRUE(d.events.empty());
    state.parent.reset();
}

TEST_F(TaskTest, Start_OverTheTaskLimit_IsRefused) {
    (void)create();
    for (std::size_t i = 0; i < limits::tasks_max; ++i) (void)when(ask(TaskAsk::What::start));
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::start))), "queue_full");
    EXPECT_EQ(state.tasks.size(), limits::tasks_max);
}

TEST_F(TaskTest, Start_SameKey_StartsOneTask) {
    (void)create();
    idem_key = "k", idem_digest = "d";
    EXPECT_EQ(when(ask(TaskAsk::What::start)).answer->task, 1u);
    idem_key = "k", idem_digest = "d";
    Decision const again = when(ask(TaskAsk::What::start));
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(again.answer->task, 1u);
    idem_key = "k", idem_digest = "other";
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::start))), "idempotency_mismatch");
    EXPECT_EQ(state.tasks.size(), 1u);
}

// These tests check how the end of a run is reported.

TEST_F(TaskTest, EndOfARun_WakesAnIdleParentOnce) {
    idle_with_task();
    ASSERT_EQ(what_class(), "idle");
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed input_received turn_started model_requested");
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(state.turn->cause, InputSource::task);
    EXPECT_EQ(
        first<InputReceived>(d).parts,
        parts("Task " + task_id_of(1) + ": completed. Read its output with background_output."));
    EXPECT_TRUE(ends(1, 1, "found it").events.empty());
    EXPECT_TRUE(ends(1, 1, "something else").events.empty());
    EXPECT_EQ(state.tasks.at(1).result, quoted("found it"));
    EXPECT_EQ(notices(), 1u);
}

TEST_F(TaskTest, EndOfARun_BusyParent_IsNotifiedAfterItsTurn) {
    with_task();
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed input_received");
    EXPECT_EQ(state.queue.size(), 1u);
    Decision const d = reply();
    EXPECT_EQ(types(d), "model_replied turn_ended turn_started model_requested");
    EXPECT_EQ(state.turn->cause, InputSource::task);
}

TEST_F(TaskTest, EndOfARun_FullQueue_StillTakesNotices) {
    with_task();
    for (std::size_t i = 0; i < limits.queue; ++i) (void)prompt("more", PromptMode::queue);
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed input_received");
    EXPECT_EQ(notices(), 1u);
}

TEST_F(TaskTest, EndOfARun_PausedParent_IsNotifiedAfterResume) {
    idle_with_task();
    (void)move(Move::To::pause);
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed input_received");
    EXPECT_FALSE(state.turn);
    (void)move(Move::To::resume);
    ASSERT_TRUE(state.turn);
    EXPECT_EQ(state.turn->cause, InputSource::task);
}

TEST_F(TaskTest, Output_ReadFirst_WithdrawsTheNotice) {
    with_task();
    (void)ends(1, 1, "found it");
    Decision const d = tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(types(d), "input_dropped tool_finished model_requested");
    EXPECT_EQ(output_in(d), "\"found it\"");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
    EXPECT_EQ(what_class(), "idle");
}

TEST_F(TaskTest, Output_CanBeReadRepeatedly) {
    with_task();
    (void)ends(1, 1, "found it");
    (void)tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(output_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))), "\"found it\"");
    EXPECT_EQ(output_in(tool_asks(blocking(TaskAsk::What::output, task_id_of(1)))), "\"found it\"");
}

TEST_F(TaskTest, Output_OfARunningTask_SaysSo) {
    with_task();
    Decision const d = tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(output_in(d),
              "\"Task " + task_id_of(1) + " is running. You will be notified when it has ended.\"");
}

// A blocking call is a pause that only the runtime answers.

TEST_F(TaskTest, BlockingCall_IsSettledWithTheStatusInOneAppend) {
    with_task();
    Decision const waits = tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(types(waits), "call_paused");
    EXPECT_EQ(what_class(), "waiting");
    EXPECT_EQ(wake_at(state), now + Duration(60'000));
    PendingId const call = state.calls.begin()->second.pending;
    EXPECT_EQ(answer_of(submit(call, result("mine"))), "not_an_answerer");
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed submitted model_requested");
    EXPECT_EQ(output_in(d), "\"found it\"");
    EXPECT_EQ(first<Submitted>(d).receipt.by.type, ActorType::runtime);
    EXPECT_EQ(notices(), 0u);
}

TEST_F(TaskTest, BlockingCalls_SeveralMayWaitForOneRun) {
    with_task();
    (void)reply({task_tool(), task_tool()});
    for (CallNo no : {2u, 3u})
        (void)outcome(pending(no), 1, blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed submitted submitted model_requested");
    EXPECT_EQ(notices(), 0u);
}

TEST_F(TaskTest, BlockingCall_TimesOut_SaysThatANoticeWillCome) {
    with_task();
    (void)ends(1, 1, "found it");
    (void)tool_asks(blocking(TaskAsk::What::resume, task_id_of(1)));
    EXPECT_FALSE(state.tasks.at(1).notify);
    Decision const d = later(Duration(60'000));
    EXPECT_EQ(types(d), "task_changed submitted model_requested");
    EXPECT_EQ(output_in(d),
              "\"Task " + task_id_of(1) +
                  " has not ended within 60000 ms. You will be notified when it has ended.\"");
    EXPECT_TRUE(state.tasks.at(1).notify);
    (void)reply();
    Decision const ended = ends(1, 2, "now");
    EXPECT_EQ(first<InputReceived>(ended).task, 1u);
}

TEST_F(TaskTest, BlockingCall_EndAndDeadlineTogether_ReportOnce) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    now += Duration(60'000);
    Decision const d = ends(1, 1, "found it");  // the deadline is due at that time and comes first
    EXPECT_EQ(all<Submitted>(d).size(), 1u);
    EXPECT_EQ(notices(), 1u);
}

TEST_F(TaskTest, BlockingCall_Crash_ChangesNothing) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    EXPECT_TRUE(restart().events.empty());
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed submitted model_requested");
}

// Receipts are compared by the digest of the canonical form.

TEST_F(TaskTest, FailedRun_ErrorWithQuotes_HasTheCanonicalDigest) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = ends(1, 1, "", FinishReason::error, "no \"a\\b\"\n");
    EXPECT_EQ(first<Submitted>(d).what->error, "no \"a\\b\"\n");
    EXPECT_EQ(first<Submitted>(d).receipt.digest, sha256(R"({"error":"no \"a\\b\"\n"})"));
    EXPECT_EQ(first<Submitted>(d).what->digest, sha256(R"({"error":"no \"a\\b\"\n"})"));
}

TEST_F(TaskTest, EndedRun_EscapedResult_HasTheCanonicalDigest) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = ends(1, 1, R"(a\/b)");
    EXPECT_EQ(output_in(d), R"("a\/b")");
    EXPECT_EQ(first<Submitted>(d).receipt.digest, sha256(R"({"output":"a/b"})"));
}

TEST_F(TaskTest, Cancel_ReasonWithQuotes_HasTheCanonicalDigest) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    TaskAsk cancel = ask(TaskAsk::What::cancel, task_id_of(1));
    cancel.reason = R"(see "C:\x")";
    Decision const d = when(cancel);
    EXPECT_EQ(first<Submitted>(d).receipt.digest,
              sha256(R"({"error":"The task was cancelled: see \"C:\\x\""})"));
}

}  // namespace
}  // namespace dormouse::session::testing
