#include "session/testing/task_fixture.h"

// The parent's side of tasks: progress, resume, and error texts (requirements D1 to D7).
namespace dormouse::session::testing {
namespace {

// Requirements D1 to D3: resume.

TEST_F(TaskTest, Progress_IsShownWithTheTaskAndWakesNothing) {
    idle_with_task();
    SessionId const child = state.tasks.at(1).child;
    Decision const d = when(Deliver{{child, 5, 0}, RunProgress{1, 1, "half \"way\""}});
    EXPECT_EQ(types(d), "task_changed");
    EXPECT_EQ(what_class(), "idle");
    EXPECT_EQ(answer_of(when(Deliver{{child, 5, 0}, RunProgress{1, 1, "half \"way\""}})),
              "duplicate");
    (void)prompt("and?");
    EXPECT_NE(output_in(tool_asks(ask(TaskAsk::What::list))).find(R"("progress":"half \"way\"")"),
              std::string::npos);
    Decision const out = tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_NE(output_in(out).find("Progress: half"), std::string::npos);
    (void)ends(1, 1, "done");
    EXPECT_EQ(types(when(Deliver{{child, 6, 0}, RunProgress{1, 1, "late"}})), "")
        << "of a run that has ended";
}

TEST_F(TaskTest, Report_OnlyDuringARunOfTheChild) {
    (void)create();
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::report))), "wrong_state");
    *static_cast<Given*>(this) = Given();
    SessionId parent;
    parent.bytes[15] = 99;
    StartRun run{3, 1, "default", "coder", "look", {}, parts("work"), by, 1};
    (void)when(Deliver{{parent, 7, 0}, run});
    Decision const d = when(ask(TaskAsk::What::report));
    EXPECT_EQ(types(d), "run_reported");
    ASSERT_EQ(d.outbox.size(), 1u);
    EXPECT_EQ(d.outbox[0].to, parent);
    EXPECT_EQ(std::get<RunProgress>(d.outbox[0].what), (RunProgress{3, 1, "look \"it\" up"}));
    TaskAsk large = ask(TaskAsk::What::report);
    large.description = std::string(limits::report_bytes_max + 1, 'x');
    EXPECT_EQ(answer_of(when(large)), "too_large");
    (void)reply();
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::report))), "wrong_state") << "the run has ended";
}

TEST_F(TaskTest, Fork_IsRequestedOnlyWithTheFirstRun) {
    (void)create();
    (void)prompt("please");
    TaskAsk forks = ask(TaskAsk::What::start);
    forks.fork = true;
    Decision const d = tool_asks(forks);
    ASSERT_EQ(sent<StartRun>(d).size(), 1u);
    EXPECT_TRUE(sent<StartRun>(d)[0].fork);
    for (std::size_t i = 1; i < limits::tasks_running_max; ++i)
        (void)tool_asks(ask(TaskAsk::What::start));
    EXPECT_TRUE(sent<StartRun>(tool_asks(forks)).empty());
    (void)restart();
    Decision const free = ends(1, 1, "done");
    ASSERT_EQ(sent<StartRun>(free).size(), 1u);
    EXPECT_TRUE(sent<StartRun>(free)[0].fork);
    (void)reply();
    Decision const again = when(ask(TaskAsk::What::resume, task_id_of(1)));
    for (StartRun const& run : sent<StartRun>(again)) EXPECT_FALSE(run.fork);
}

TEST_F(TaskTest, Child_BeginsWithTheGivenHistory) {
    SessionId parent;
    parent.bytes[15] = 99;
    StartRun run{3, 1, "default", "coder", "look", {}, parts("work"), by, 1, true};
    Deliver deliver{{parent, 7, 0}, run};
    deliver.past = Create::ForkOf{parent, 5, json("[]"), 4};
    EXPECT_EQ(types(when(std::move(deliver))),
              "session_created forked input_received turn_started model_requested");
    EXPECT_EQ(state.forked_from, parent);
    EXPECT_EQ(state.parent->session, parent);
}

TEST_F(TaskTest, Resume_CompletedResumedCompleted) {
    idle_with_task();
    (void)ends(1, 1, "first");
    (void)tool_asks(ask(TaskAsk::What::resume, task_id_of(1)));
    EXPECT_EQ(status(1), TaskStatus::resumed);
    EXPECT_EQ(state.tasks.at(1).run, 2u);
    EXPECT_TRUE(state.tasks.at(1).result.is_null());
    (void)ends(1, 2, "second");
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(state.tasks.at(1).result, quoted("second"));
}

TEST_F(TaskTest, Resume_SendsTheNextRunToTheSameSession) {
    idle_with_task();
    (void)ends(1, 1, "first");
    SessionId const child = state.tasks.at(1).child;
    Decision const d = tool_asks(ask(TaskAsk::What::resume, task_id_of(1)));
    auto const runs = sent<StartRun>(d);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].run, 2u);
    EXPECT_EQ(d.outbox[0].to, child);
    EXPECT_EQ(d.sessions, 0u);
}

TEST_F(TaskTest, ProgressOfAnOlderRun_IsDropped) {
    idle_with_task();
    SessionId const child = state.tasks.at(1).child;
    (void)ends(1, 1, "first");
    resume(1);
    EXPECT_EQ(types(when(Deliver{{child, 77, 0}, RunProgress{1, 1, "old"}})), "");
    EXPECT_EQ(types(when(Deliver{{child, 78, 0}, RunProgress{1, 2, "new"}})), "task_changed");
}

TEST_F(TaskTest, Resume_BeforeTheNoticeIsRead_WithdrawsIt) {
    with_task();
    (void)ends(1, 1, "first");
    ASSERT_EQ(state.queue.size(), 1u);
    Decision const d = tool_asks(ask(TaskAsk::What::resume, task_id_of(1)));
    EXPECT_EQ(all<InputDropped>(d).size(), 1u);
    EXPECT_TRUE(state.queue.empty());
}

TEST_F(TaskTest, OlderRun_EndsLate_ChangesNothing) {
    idle_with_task();
    (void)ends(1, 1, "first");
    resume(1);
    EXPECT_TRUE(ends(1, 1, "first, again").events.empty());
    EXPECT_EQ(status(1), TaskStatus::resumed);
    (void)ends(1, 2, "second");
    EXPECT_TRUE(ends(1, 1, "first, again").events.empty());
    EXPECT_EQ(state.tasks.at(1).result, quoted("second"));
}

TEST_F(TaskTest, BlockingResume_GivesTheResultWithoutANotice) {
    with_task();
    (void)ends(1, 1, "first");
    (void)tool_asks(blocking(TaskAsk::What::resume, task_id_of(1)));
    std::size_t const before = notices();
    Decision const d = ends(1, 2, "second");
    EXPECT_EQ(output_in(d), "\"second\"");
    EXPECT_EQ(notices(), before);
}

TEST_F(TaskTest, NonBlockingResume_GivesANotice) {
    idle_with_task();
    (void)ends(1, 1, "first");
    (void)reply();
    resume(1);
    ASSERT_EQ(what_class(), "idle");
    (void)ends(1, 2, "second");
    EXPECT_EQ(notices(), 2u);
}

TEST_F(TaskTest, ResumedRun_Fails_IsCompletedWithItsError) {
    idle_with_task();
    (void)ends(1, 1, "first");
    resume(1);
    (void)ends(1, 2, "", FinishReason::error, "the model is down");
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(state.tasks.at(1).error, "the model is down");
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))), "the model is down");
    resume(1);
    EXPECT_EQ(status(1), TaskStatus::resumed);
    EXPECT_EQ(state.tasks.at(1).error, "");
}

// Requirement D7: the four texts.

TEST_F(TaskTest, Resume_UnknownTask_SaysNotFound) {
    with_task();
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, "tsk_7"))), "Task not found: tsk_7");
    Decision const d = when(ask(TaskAsk::What::resume, ""));
    EXPECT_EQ(answer_of(d), "not_found");
    EXPECT_TRUE(d.events.empty());
}

TEST_F(TaskTest, Resume_RunningTask_SaysNotCompleted) {
    with_task();
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))),
              "Cannot resume task: status is 'running'. Only completed tasks can be resumed.");
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::resume, task_id_of(1)))), "task_not_completed");
    (void)ends(1, 1, "", FinishReason::error, "broken");
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))),
              "Cannot resume task: status is 'error'. Only completed tasks can be resumed.");
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)tool_asks(ask(TaskAsk::What::cancel, task_id_of(2)));
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(2)))),
              "Cannot resume task: status is 'cancelled'. Only completed tasks can be resumed.");
}

TEST_F(TaskTest, Resume_ResumedTask_SaysItIsResuming) {
    with_task();
    (void)ends(1, 1, "first");
    resume(1);
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))),
              "Task is currently being resumed. Wait for completion before sending another "
              "message.");
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::resume, task_id_of(1)))), "task_resuming");
    EXPECT_EQ(state.tasks.at(1).run, 2u);
}

TEST_F(TaskTest, Resume_ChildGone_SaysSessionExpired) {
    std::string const text =
        "Session expired or was deleted. Start a new background_task to continue.";
    with_task();
    (void)ends(1, 1, "first");
    EXPECT_EQ(types(gone(1)), "task_changed");
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))), text);
    EXPECT_EQ(answer_of(when(ask(TaskAsk::What::resume, task_id_of(1)))), "task_session_gone");
    EXPECT_EQ(output_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))), "\"first\"");
}

TEST_F(TaskTest, ChildDeletedDuringARun_IsReported) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = gone(1);
    EXPECT_EQ(types(d), "task_changed submitted model_requested");
    EXPECT_EQ(status(1), TaskStatus::error);
    EXPECT_TRUE(error_in(d).starts_with("Session expired or was deleted."));
}

TEST_F(TaskTest, ChildNotFound_IsReported) {
    with_task();
    (void)ends(1, 1, "first");
    resume(1);
    StartRun run;
    run.task = 1;
    run.run = 2;
    Undelivered const back{{id, 9, 0}, state.tasks.at(1).child, run, {"not_found", "gone"}};
    Decision const d = when(back);
    EXPECT_EQ(status(1), TaskStatus::error);
    EXPECT_TRUE(state.tasks.at(1).gone);
    EXPECT_TRUE(when(back).events.empty());
    EXPECT_EQ(first<TaskChanged>(d).error,
              "Session expired or was deleted. Start a new background_task to continue.");
}

TEST_F(TaskTest, RunEndedByAnotherSession_IsIgnored) {
    with_task();
    SessionId outsider = id;
    outsider.bytes[0] ^= 1;
    EXPECT_TRUE(ends_of(outsider, 1, {1, 1, FinishReason::stop, quoted("forged"), {}, false})
                    .events.empty());
    EXPECT_EQ(status(1), TaskStatus::running);
}

}  // namespace
}  // namespace dormouse::session::testing
