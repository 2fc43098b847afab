#include "session/testing/task_fixture.h"

// The parent's side of tasks: cancel, clear and list; agents as tools.
namespace dormouse::session::testing {
namespace {

// Cancel, clear, list.

TEST_F(TaskTest, Cancel_StopsTheRun) {
    with_task();
    Decision const d = tool_asks(ask(TaskAsk::What::cancel, task_id_of(1)));
    EXPECT_EQ(status(1), TaskStatus::cancelled);
    auto const stops = sent<StopRun>(d);
    ASSERT_EQ(stops.size(), 1u);
    EXPECT_FALSE(stops[0].ends);
    EXPECT_TRUE(ends(1, 1, "too late").events.empty());
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))),
              "The task was cancelled.");
    EXPECT_EQ(notices(), 0u);
}

TEST_F(TaskTest, Cancel_OfAResume_IsCompletedAndResumable) {
    with_task();
    (void)ends(1, 1, "first");
    resume(1);
    (void)when(ask(TaskAsk::What::cancel, task_id_of(1)));
    EXPECT_EQ(status(1), TaskStatus::completed);
    resume(1);
    EXPECT_TRUE(ends(1, 2, "", FinishReason::cancelled).events.empty());  // of the cancelled run
    EXPECT_EQ(status(1), TaskStatus::resumed);
    (void)ends(1, 3, "third");
    EXPECT_EQ(state.tasks.at(1).result, quoted("third"));
}

TEST_F(TaskTest, Cancel_FromOutside_SettlesWaitingCalls) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = when(ask(TaskAsk::What::cancel, task_id_of(1)));
    EXPECT_EQ(error_in(d), "The task was cancelled.");
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::cancel, task_id_of(1)))), "wrong_state");
}

TEST_F(TaskTest, CancelWithAReason_ReachesTheChildAndTheReader) {
    idle_with_task();
    TaskAsk cancel = ask(TaskAsk::What::cancel, task_id_of(1));
    cancel.reason = "another branch";
    Decision const d = when(cancel);
    EXPECT_EQ(first<TaskChanged>(d).reason, "another branch");
    EXPECT_EQ(first<TaskChanged>(d).error, "The task was cancelled: another branch");
    ASSERT_EQ(sent<StopRun>(d).size(), 1u);
    EXPECT_EQ(sent<StopRun>(d)[0].reason, "another branch");
}

TEST_F(TaskTest, CancelAll_CancelsActiveTasks) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)ends(1, 1, "first");
    Decision const d = tool_asks(ask(TaskAsk::What::cancel));
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(status(2), TaskStatus::cancelled);
    EXPECT_EQ(output_in(d), "\"Tasks cancelled: 1\"");
}

TEST_F(TaskTest, Clear_EndsTheChildrenAndRemovesTheTasks) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)ends(1, 1, "first");
    Decision const d = tool_asks(ask(TaskAsk::What::clear));
    EXPECT_TRUE(state.tasks.empty());
    auto const stops = sent<StopRun>(d);
    ASSERT_EQ(stops.size(), 2u);
    EXPECT_TRUE(stops[0].ends && stops[1].ends);
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))),
              "Task not found: " + task_id_of(1));
    EXPECT_TRUE(ends(1, 1, "late").events.empty());
    EXPECT_TRUE(state.queue.empty());  // the notice was dropped with its task
}

TEST_F(TaskTest, TaskNumbers_AreNotReused) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::clear));
    (void)tool_asks(ask(TaskAsk::What::start));
    EXPECT_TRUE(state.tasks.contains(2));
}

TEST_F(TaskTest, List_ShowsAllOrThoseOfAStatus) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)ends(1, 1, "first");
    TaskAsk only = ask(TaskAsk::What::list);
    EXPECT_EQ(output_in(tool_asks(only)),
              R"([{"taskID":")" + task_id_of(1) +
                  R"(","description":"look \"it\" up","agentID":"demo","status":"completed",)"
                  R"("resumeCount":0},{"taskID":")" +
                  task_id_of(2) +
                  R"(","description":"look \"it\" up","agentID":"demo","status":"running",)"
                  R"("resumeCount":0}])");
    only.only = TaskStatus::error;
    EXPECT_EQ(output_in(tool_asks(only)), "[]");
}

TEST_F(TaskTest, TaskIdPrefix_IsEnoughIfUnique) {
    with_task();
    std::string const beginning = task_id_of(1).substr(0, 20);
    (void)ends(1, 1, "first");
    EXPECT_EQ(output_in(tool_asks(ask(TaskAsk::What::output, beginning))), "\"first\"");
    (void)tool_asks(ask(TaskAsk::What::start));
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::cancel, beginning))), "ambiguous_reference");
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::cancel, task_id_of(2)))), "applied");
}

// The parent's cancels and its end reach its children.

TEST_F(TaskTest, CancelOfTheTurn_CancelsTheTaskItBlocksOn) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = cancel_turn();
    EXPECT_EQ(status(1), TaskStatus::cancelled);
    EXPECT_EQ(status(2), TaskStatus::running);
    EXPECT_EQ(sent<StopRun>(d).size(), 1u);
}

TEST_F(TaskTest, TwoCallsWaitingForATask_AreCancelledTogether) {
    join(1, true);
    (void)create();
    (void)prompt("please");
    (void)when(ask(TaskAsk::What::start));
    (void)reply({task_tool(), task_tool(), plain()});
    for (CallNo no : {1u, 2u})
        (void)outcome(pending(no), 1, blocking(TaskAsk::What::output, task_id_of(1)));
    (void)finish(3);
    EXPECT_TRUE(state.calls.empty());
    EXPECT_EQ(status(1), TaskStatus::cancelled);
}

TEST_F(TaskTest, CancelOfEverything_CancelsAllTasks) {
    idle_with_task();
    Decision const d = when(Cancel{Cancel::Scope::all, {}});
    EXPECT_EQ(status(1), TaskStatus::cancelled);
    EXPECT_EQ(sent<StopRun>(d).size(), 1u);
}

TEST_F(TaskTest, EndOfTheParent_EndsItsChildren) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = move(Move::To::end);
    EXPECT_TRUE(state.tasks.empty());
    auto const stops = sent<StopRun>(d);
    ASSERT_FALSE(stops.empty());
    EXPECT_TRUE(stops.back().ends);
    EXPECT_TRUE(ends(1, 1, "late").events.empty());
    EXPECT_EQ(what_class(), "ended");
}

TEST_F(TaskTest, DeleteOfTheParent_EndsItsChildren) {
    idle_with_task();
    Decision const d = when(Delete{});
    auto const stops = sent<StopRun>(d);
    ASSERT_EQ(stops.size(), 1u);
    EXPECT_TRUE(stops[0].ends);
}

// Agents as tools.

TEST_F(TaskTest, AgentAsATool_WaitsForItsChild) {
    (void)create();
    (void)prompt("please");
    Decision const waits = tool_asks(ask(TaskAsk::What::call));
    EXPECT_EQ(types(waits), "task_started call_paused");
    EXPECT_FALSE(wake_at(state));  // it sleeps: its child has a session of its own
    EXPECT_TRUE(restart().events.empty());
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed submitted task_cleared model_requested");
    EXPECT_EQ(output_in(d), "\"found it\"");
    auto const stops = sent<StopRun>(d);
    ASSERT_EQ(stops.size(), 1u);
    EXPECT_TRUE(stops[0].ends);
    EXPECT_EQ(notices(), 0u);
}

TEST_F(TaskTest, AgentAsATool_FailureIsTheErrorOfItsCall) {
    (void)create();
    (void)prompt("please");
    (void)tool_asks(ask(TaskAsk::What::call));
    Decision const d = ends(1, 1, "", FinishReason::error, "the model is down");
    EXPECT_EQ(error_in(d), "the model is down");
    EXPECT_EQ(first<Submitted>(d).receipt.status, CallStatus::failed);
}

TEST_F(TaskTest, AgentAsATool_CancelEndsItsSession) {
    (void)create();
    (void)prompt("please");
    (void)tool_asks(ask(TaskAsk::What::call));
    Decision const d = Given::cancel_call(pending(1));
    EXPECT_TRUE(state.tasks.empty());
    ASSERT_EQ(sent<StopRun>(d).size(), 1u);
    EXPECT_TRUE(sent<StopRun>(d)[0].ends);
}

TEST_F(TaskTest, AgentAsATool_DeadlineEndsItsSession) {
    (void)create();
    (void)prompt("please");
    TaskAsk what = ask(TaskAsk::What::call);
    what.timeout = Duration(5'000);
    (void)tool_asks(what);
    Decision const d = later(Duration(5'000));
    EXPECT_EQ(types(d), "expired task_cleared model_requested");
    ASSERT_EQ(sent<StopRun>(d).size(), 1u);
    EXPECT_TRUE(state.tasks.empty());
}

TEST_F(TaskTest, AgentAsATool_IsHiddenFromTaskTools) {
    (void)create();
    (void)prompt("please");
    (void)reply({task_tool(), task_tool(), task_tool()});
    (void)outcome(pending(1), 1, ask(TaskAsk::What::call));
    EXPECT_EQ(output_in(outcome(pending(2), 1, ask(TaskAsk::What::list))), "[]");
    (void)outcome(pending(3), 1, ask(TaskAsk::What::clear));
    EXPECT_EQ(state.tasks.size(), 1u);
}

}  // namespace
}  // namespace dormouse::session::testing
