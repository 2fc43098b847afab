#include "session/task.h"

#include "session/testing/session_fixture.h"

// The parent's side of tasks: spec 003, and agents as tools.
namespace dormouse::session::testing {
namespace {

CallSpec task_tool() {
    CallSpec spec = with_policy(pausing(PauseReason::handoff), CrashPolicy::retry);
    spec.tool = "background_task";
    return spec;
}

class TaskTest : public SessionTest {
protected:
    static TaskAsk ask(TaskAsk::What what, std::string task = {}) {
        TaskAsk out;
        out.what = what;
        out.task = std::move(task);
        out.agent = "demo";
        out.description = "look \"it\" up";
        out.parts = parts("look it up");
        return out;
    }
    static TaskAsk blocking(TaskAsk::What what, std::string task) {
        TaskAsk out = ask(what, std::move(task));
        out.block = true;
        out.timeout = Duration(60'000);
        return out;
    }
    [[nodiscard]] std::string task_id_of(TaskNo no) const { return task_id(id, no); }
    // The model asks for the tool, and this is what the tool asks.
    Decision tool_asks(TaskAsk what) {
        (void)reply({task_tool()});
        Call const& call = state.calls.rbegin()->second;
        Decision d = outcome(call.pending, call.attempt, std::move(what));
        for (auto const& [no, task] : state.tasks) children[no] = task.child;
        return d;
    }
    // A session whose model has started a task and has been asked again.
    void with_task() {
        (void)create();
        (void)prompt("please");
        (void)tool_asks(ask(TaskAsk::What::start));
    }
    // The same, at rest.
    void idle_with_task() {
        with_task();
        (void)reply();
    }
    Decision ends(TaskNo no, std::uint32_t run, std::string const& said_text,
                  FinishReason finish = FinishReason::stop, std::string error = {}) {
        return ends_of(state.tasks.contains(no) ? state.tasks.at(no).child : children[no], no,
                       {no, run, finish, quoted(said_text), std::move(error), false});
    }
    Decision ends_of(SessionId child, TaskNo no, RunEnded what) {
        children[no] = child;
        return when(Deliver{{child, ++post_, 0}, std::move(what)});
    }
    Decision gone(TaskNo no) {
        SessionId const child = state.tasks.at(no).child;
        return ends_of(child, no, {no, 0, FinishReason::cancelled, {}, "deleted", true});
    }
    void resume(TaskNo no) { (void)when(ask(TaskAsk::What::resume, task_id_of(no))); }
    // The error of the newest call that has ended.
    static std::string error_in(Decision const& d) {
        if (auto const e = first<ToolFinished>(d); e.call != 0) return e.error;
        return first<Submitted>(d).what.error;
    }
    static std::string output_in(Decision const& d) {
        if (auto const e = first<ToolFinished>(d); e.call != 0) return std::string(e.output.text());
        return std::string(first<Submitted>(d).what.output.text());
    }
    template <class Kind> static std::vector<Kind> sent(Decision const& d) {
        std::vector<Kind> out;
        for (Post const& post : d.posts) {
            if (auto const* what = std::get_if<Kind>(&post.what)) out.push_back(*what);
        }
        return out;
    }
    [[nodiscard]] TaskStatus status(TaskNo no) const { return state.tasks.at(no).status; }
    [[nodiscard]] std::size_t notices() const {
        std::size_t count = 0;
        for (Event const& event : archive.log) {
            auto const* input = std::get_if<InputReceived>(&event.body);
            count += input && input->task != 0 ? 1 : 0;
        }
        return count;
    }
    std::map<TaskNo, SessionId> children;

private:
    Seq post_ = 0;
};

// Starting.

TEST_F(TaskTest, StartingGivesTheIdAndSendsTheFirstRunInOneAppend) {
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
    EXPECT_EQ(runs[0].by, (Actor{ActorType::token, "ann"}));  // who asked for the turn
    EXPECT_EQ(d.posts[0].to, state.tasks.at(1).child);
    EXPECT_EQ(d.sessions, 1u);
    EXPECT_EQ(status(1), TaskStatus::running);
}

TEST_F(TaskTest, ARepeatedOutcomeStartsNoSecondTask) {
    (void)create();
    (void)prompt("please");
    (void)reply({task_tool()});
    PendingId const tool = pending(1);
    (void)outcome(tool, 1, ask(TaskAsk::What::start));
    Decision const again = outcome(tool, 1, ask(TaskAsk::What::start));
    EXPECT_TRUE(again.posts.empty());
    EXPECT_EQ(state.tasks.size(), 1u);
}

TEST_F(TaskTest, ACrashBeforeTheOutcomeRunsTheToolAgainAndStartsOne) {
    (void)create();
    (void)prompt("please");
    (void)reply({task_tool()});
    (void)restart();
    ASSERT_TRUE(owes<RunTool>());
    Decision const d = outcome(pending(1), 2, ask(TaskAsk::What::start));
    EXPECT_EQ(sent<StartRun>(d).size(), 1u);
    EXPECT_EQ(state.tasks.size(), 1u);
}

TEST_F(TaskTest, OnlySoManyRunAtOnceTheOthersWaitInOrder) {
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

TEST_F(TaskTest, ATaskThatWaitsForAPlaceIsCancelledWithoutASession) {
    (void)create();
    for (std::size_t i = 0; i <= limits::tasks_running_max; ++i)
        (void)when(ask(TaskAsk::What::start));
    TaskNo const ninth = limits::tasks_running_max + 1;
    EXPECT_TRUE(when(ask(TaskAsk::What::cancel, task_id_of(ninth))).posts.empty());
    EXPECT_EQ(status(ninth), TaskStatus::cancelled);
    EXPECT_TRUE(when(ask(TaskAsk::What::clear, task_id_of(ninth))).posts.empty());
}

TEST_F(TaskTest, TasksAreNestedOnlySoDeep) {
    (void)create();
    state.parent = Parent{id, 1, limits::task_depth_max};
    State copy = state;
    Decision const d = decide(copy, epoch, command_of(ask(TaskAsk::What::start)));
    EXPECT_EQ(said(d), "queue_full");
    EXPECT_TRUE(d.events.empty());
    state.parent.reset();
}

TEST_F(TaskTest, ThereAreOnlySoManyTasks) {
    (void)create();
    for (std::size_t i = 0; i < limits::tasks_max; ++i) (void)when(ask(TaskAsk::What::start));
    EXPECT_EQ(said(when(ask(TaskAsk::What::start))), "queue_full");
    EXPECT_EQ(state.tasks.size(), limits::tasks_max);
}

TEST_F(TaskTest, ARequestWithAKeyStartsOneTaskHoweverOftenItComes) {
    (void)create();
    idem_key = "k", idem_digest = "d";
    EXPECT_EQ(when(ask(TaskAsk::What::start)).answer->task, 1u);
    idem_key = "k", idem_digest = "d";
    Decision const again = when(ask(TaskAsk::What::start));
    EXPECT_EQ(said(again), "duplicate");
    EXPECT_EQ(again.answer->task, 1u);
    idem_key = "k", idem_digest = "other";
    EXPECT_EQ(said(when(ask(TaskAsk::What::start))), "idempotency_mismatch");
    EXPECT_EQ(state.tasks.size(), 1u);
}

// How a run's end is told.

TEST_F(TaskTest, TheEndOfARunWakesAnIdleParentOnce) {
    idle_with_task();
    ASSERT_EQ(what_class(), "idle");
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed input_received turn_started model_requested");
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(state.turn->cause, InputSource::task);
    EXPECT_EQ(
        first<InputReceived>(d).parts,
        parts("Task " + task_id_of(1) + ": completed. background_output gives what it said."));
    EXPECT_TRUE(ends(1, 1, "found it").events.empty());
    EXPECT_TRUE(ends(1, 1, "something else").events.empty());
    EXPECT_EQ(state.tasks.at(1).result, quoted("found it"));
    EXPECT_EQ(notices(), 1u);
}

TEST_F(TaskTest, ABusyParentIsToldWhenItsTurnHasEnded) {
    with_task();
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed input_received");
    EXPECT_EQ(state.queue.size(), 1u);
    Decision const d = reply();
    EXPECT_EQ(types(d), "model_replied turn_ended turn_started model_requested");
    EXPECT_EQ(state.turn->cause, InputSource::task);
}

TEST_F(TaskTest, AFullQueueTakesNoticesAllTheSame) {
    with_task();
    for (std::size_t i = 0; i < limits.queue; ++i) (void)prompt("more", PromptMode::queue);
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed input_received");
    EXPECT_EQ(notices(), 1u);
}

TEST_F(TaskTest, AParentThatIsNotActiveIsToldWhenItIsAgain) {
    idle_with_task();
    (void)move(Move::To::pause);
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed input_received");
    EXPECT_FALSE(state.turn);
    (void)move(Move::To::resume);
    ASSERT_TRUE(state.turn);
    EXPECT_EQ(state.turn->cause, InputSource::task);
}

TEST_F(TaskTest, ReadingTheOutputFirstWithdrawsTheNotice) {
    with_task();
    (void)ends(1, 1, "found it");
    Decision const d = tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(types(d), "input_dropped tool_finished model_requested");
    EXPECT_EQ(output_in(d), "\"found it\"");
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
    EXPECT_EQ(what_class(), "idle");
}

TEST_F(TaskTest, OutputMayBeReadAgainAndAgain) {
    with_task();
    (void)ends(1, 1, "found it");
    (void)tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(output_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))), "\"found it\"");
    EXPECT_EQ(output_in(tool_asks(blocking(TaskAsk::What::output, task_id_of(1)))), "\"found it\"");
}

TEST_F(TaskTest, OutputOfATaskThatRunsSaysSo) {
    with_task();
    Decision const d = tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(output_in(d),
              "\"Task " + task_id_of(1) + " is running. You will be told when it has ended.\"");
}

// A blocking call is a pause that the runtime alone answers.

TEST_F(TaskTest, ABlockingCallWaitsAndIsSettledWithTheStatusInOneAppend) {
    with_task();
    Decision const waits = tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    EXPECT_EQ(types(waits), "call_paused");
    EXPECT_EQ(what_class(), "waiting");
    EXPECT_EQ(wake_at(state), now + Duration(60'000));
    PendingId const call = state.calls.begin()->second.pending;
    EXPECT_EQ(said(submit(call, result("mine"))), "not_an_answerer");
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed submitted model_requested");
    EXPECT_EQ(output_in(d), "\"found it\"");
    EXPECT_EQ(first<Submitted>(d).receipt.by.type, ActorType::runtime);
    EXPECT_EQ(notices(), 0u);
}

TEST_F(TaskTest, SeveralCallsMayWaitForOneRun) {
    with_task();
    (void)reply({task_tool(), task_tool()});
    for (CallNo no : {2u, 3u})
        (void)outcome(pending(no), 1, blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = ends(1, 1, "found it");
    EXPECT_EQ(types(d), "task_changed submitted submitted model_requested");
    EXPECT_EQ(notices(), 0u);
}

TEST_F(TaskTest, ABlockThatTimesOutSaysThatANoticeWillCome) {
    with_task();
    (void)ends(1, 1, "found it");
    (void)tool_asks(blocking(TaskAsk::What::resume, task_id_of(1)));
    EXPECT_FALSE(state.tasks.at(1).notify);
    Decision const d = later(Duration(60'000));
    EXPECT_EQ(types(d), "task_changed submitted model_requested");
    EXPECT_EQ(output_in(d), "\"Task " + task_id_of(1) +
                                " has not ended within 60000 ms. You will be told when it has.\"");
    EXPECT_TRUE(state.tasks.at(1).notify);
    (void)reply();
    Decision const told = ends(1, 2, "now");
    EXPECT_EQ(first<InputReceived>(told).task, 1u);
}

TEST_F(TaskTest, TheEndAndTheDeadlineTellOnce) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    now += Duration(60'000);
    Decision const d = ends(1, 1, "found it");  // the deadline is due by its time, and comes first
    EXPECT_EQ(all<Submitted>(d).size(), 1u);
    EXPECT_EQ(notices(), 1u);
}

TEST_F(TaskTest, ACrashWhileACallBlocksChangesNothing) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    EXPECT_TRUE(restart().events.empty());
    EXPECT_EQ(types(ends(1, 1, "found it")), "task_changed submitted model_requested");
}

// Spec 003: resume.

TEST_F(TaskTest, WhatARunTellsIsSeenWithTheTaskAndWakesNobody) {
    idle_with_task();
    SessionId const child = state.tasks.at(1).child;
    Decision const d = when(Deliver{{child, 5, 0}, RunProgress{1, 1, "half \"way\""}});
    EXPECT_EQ(types(d), "task_changed");
    EXPECT_EQ(what_class(), "idle");
    EXPECT_EQ(said(when(Deliver{{child, 5, 0}, RunProgress{1, 1, "half \"way\""}})), "duplicate");
    (void)prompt("and?");
    EXPECT_NE(output_in(tool_asks(ask(TaskAsk::What::list))).find(R"("progress":"half \"way\"")"),
              std::string::npos);
    Decision const out = tool_asks(ask(TaskAsk::What::output, task_id_of(1)));
    EXPECT_NE(output_in(out).find("It tells: half"), std::string::npos);
    (void)ends(1, 1, "done");
    EXPECT_EQ(types(when(Deliver{{child, 6, 0}, RunProgress{1, 1, "late"}})), "")
        << "of a run that has ended";
}

TEST_F(TaskTest, AChildTellsOfItsRunAndNobodyElseCan) {
    (void)create();
    EXPECT_EQ(said(when(ask(TaskAsk::What::report))), "wrong_state");
    *static_cast<Given*>(this) = Given();
    SessionId parent;
    parent.bytes[15] = 99;
    StartRun run{3, 1, "default", "coder", "look", {}, parts("work"), by, 1};
    (void)when(Deliver{{parent, 7, 0}, run});
    Decision const d = when(ask(TaskAsk::What::report));
    EXPECT_EQ(types(d), "run_reported");
    ASSERT_EQ(d.posts.size(), 1u);
    EXPECT_EQ(d.posts[0].to, parent);
    EXPECT_EQ(std::get<RunProgress>(d.posts[0].what), (RunProgress{3, 1, "look \"it\" up"}));
    TaskAsk large = ask(TaskAsk::What::report);
    large.description = std::string(limits::report_bytes_max + 1, 'x');
    EXPECT_EQ(said(when(large)), "too_large");
    (void)reply();
    EXPECT_EQ(said(when(ask(TaskAsk::What::report))), "wrong_state") << "the run has ended";
}

TEST_F(TaskTest, AForkIsAskedForWithTheFirstRunAloneAlsoWhenItWaits) {
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

TEST_F(TaskTest, AChildBeginsWithThePastThatItIsGiven) {
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

TEST_F(TaskTest, CompletedResumedCompleted) {
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

TEST_F(TaskTest, AResumeSendsTheNextRunToTheSameSession) {
    idle_with_task();
    (void)ends(1, 1, "first");
    SessionId const child = state.tasks.at(1).child;
    Decision const d = tool_asks(ask(TaskAsk::What::resume, task_id_of(1)));
    auto const runs = sent<StartRun>(d);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].run, 2u);
    EXPECT_EQ(d.posts[0].to, child);
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

TEST_F(TaskTest, ResumeBeforeTheNoticeWasRead_WithdrawsIt) {
    with_task();
    (void)ends(1, 1, "first");
    ASSERT_EQ(state.queue.size(), 1u);
    Decision const d = tool_asks(ask(TaskAsk::What::resume, task_id_of(1)));
    EXPECT_EQ(all<InputDropped>(d).size(), 1u);
    EXPECT_TRUE(state.queue.empty());
}

TEST_F(TaskTest, AnOlderRunThatEndsLateOverwritesNothing) {
    idle_with_task();
    (void)ends(1, 1, "first");
    resume(1);
    EXPECT_TRUE(ends(1, 1, "first, again").events.empty());
    EXPECT_EQ(status(1), TaskStatus::resumed);
    (void)ends(1, 2, "second");
    EXPECT_TRUE(ends(1, 1, "first, again").events.empty());
    EXPECT_EQ(state.tasks.at(1).result, quoted("second"));
}

TEST_F(TaskTest, ABlockingResumeGivesTheNewResponseAndNoNotice) {
    with_task();
    (void)ends(1, 1, "first");
    (void)tool_asks(blocking(TaskAsk::What::resume, task_id_of(1)));
    std::size_t const before = notices();
    Decision const d = ends(1, 2, "second");
    EXPECT_EQ(output_in(d), "\"second\"");
    EXPECT_EQ(notices(), before);
}

TEST_F(TaskTest, AResumeThatDoesNotBlockIsTold) {
    idle_with_task();
    (void)ends(1, 1, "first");
    (void)reply();
    resume(1);
    ASSERT_EQ(what_class(), "idle");
    (void)ends(1, 2, "second");
    EXPECT_EQ(notices(), 2u);
}

TEST_F(TaskTest, AResumedRunThatFailsIsCompletedWithItsError) {
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

// Spec 003: the four texts.

TEST_F(TaskTest, TaskNotFound) {
    with_task();
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, "tsk_7"))), "Task not found: tsk_7");
    Decision const d = when(ask(TaskAsk::What::resume, ""));
    EXPECT_EQ(said(d), "not_found");
    EXPECT_TRUE(d.events.empty());
}

TEST_F(TaskTest, TaskNotCompleted) {
    with_task();
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))),
              "Cannot resume task: status is 'running'. Only completed tasks can be resumed.");
    EXPECT_EQ(said(when(ask(TaskAsk::What::resume, task_id_of(1)))), "task_not_completed");
    (void)ends(1, 1, "", FinishReason::error, "broken");
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))),
              "Cannot resume task: status is 'error'. Only completed tasks can be resumed.");
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)tool_asks(ask(TaskAsk::What::cancel, task_id_of(2)));
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(2)))),
              "Cannot resume task: status is 'cancelled'. Only completed tasks can be resumed.");
}

TEST_F(TaskTest, TaskAlreadyResuming) {
    with_task();
    (void)ends(1, 1, "first");
    resume(1);
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))),
              "Task is currently being resumed. Wait for completion before sending another "
              "message.");
    EXPECT_EQ(said(when(ask(TaskAsk::What::resume, task_id_of(1)))), "task_resuming");
    EXPECT_EQ(state.tasks.at(1).run, 2u);
}

TEST_F(TaskTest, SessionExpired) {
    std::string const text =
        "Session expired or was deleted. Start a new background_task to continue.";
    with_task();
    (void)ends(1, 1, "first");
    EXPECT_EQ(types(gone(1)), "task_changed");
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(error_in(tool_asks(ask(TaskAsk::What::resume, task_id_of(1)))), text);
    EXPECT_EQ(said(when(ask(TaskAsk::What::resume, task_id_of(1)))), "task_session_gone");
    EXPECT_EQ(output_in(tool_asks(ask(TaskAsk::What::output, task_id_of(1)))), "\"first\"");
}

TEST_F(TaskTest, AChildThatIsDeletedWhileItRunsIsReported) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = gone(1);
    EXPECT_EQ(types(d), "task_changed submitted model_requested");
    EXPECT_EQ(status(1), TaskStatus::error);
    EXPECT_TRUE(error_in(d).starts_with("Session expired or was deleted."));
}

TEST_F(TaskTest, AnIdThatWasAnnouncedAndIsNotFoundIsReported) {
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

TEST_F(TaskTest, ARunThatSomebodyElseEndsIsNotOurs) {
    with_task();
    SessionId stranger = id;
    stranger.bytes[0] ^= 1;
    EXPECT_TRUE(ends_of(stranger, 1, {1, 1, FinishReason::stop, quoted("forged"), {}, false})
                    .events.empty());
    EXPECT_EQ(status(1), TaskStatus::running);
}

// Cancel, clear, list.

TEST_F(TaskTest, CancelStopsTheRun) {
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

TEST_F(TaskTest, ACancelledResumeIsCompletedAndMayBeResumed) {
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

TEST_F(TaskTest, CancelFromOutsideSettlesWhoWaits) {
    with_task();
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = when(ask(TaskAsk::What::cancel, task_id_of(1)));
    EXPECT_EQ(error_in(d), "The task was cancelled.");
    EXPECT_EQ(said(when(ask(TaskAsk::What::cancel, task_id_of(1)))), "wrong_state");
}

TEST_F(TaskTest, CancelAllCancelsWhatRuns) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)ends(1, 1, "first");
    Decision const d = tool_asks(ask(TaskAsk::What::cancel));
    EXPECT_EQ(status(1), TaskStatus::completed);
    EXPECT_EQ(status(2), TaskStatus::cancelled);
    EXPECT_EQ(output_in(d), "\"Tasks cancelled: 1\"");
}

TEST_F(TaskTest, ClearEndsTheChildrenAndForgetsTheTasks) {
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
    EXPECT_TRUE(state.queue.empty());  // the notice went with its task
}

TEST_F(TaskTest, NumbersOfTasksAreNotUsedAgain) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::clear));
    (void)tool_asks(ask(TaskAsk::What::start));
    EXPECT_TRUE(state.tasks.contains(2));
}

TEST_F(TaskTest, ListShowsEachAndThoseOfOneStatus) {
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

TEST_F(TaskTest, TheBeginningOfAnIdIsEnoughIfItIsTheOnlyOne) {
    with_task();
    std::string const beginning = task_id_of(1).substr(0, 20);
    (void)ends(1, 1, "first");
    EXPECT_EQ(output_in(tool_asks(ask(TaskAsk::What::output, beginning))), "\"first\"");
    (void)tool_asks(ask(TaskAsk::What::start));
    EXPECT_EQ(said(when(ask(TaskAsk::What::cancel, beginning))), "ambiguous_reference");
    EXPECT_EQ(said(when(ask(TaskAsk::What::cancel, task_id_of(2)))), "applied");
}

// The parent's cancels and its end reach its children.

TEST_F(TaskTest, CancellingTheTurnCancelsTheTaskThatItBlocksOn) {
    with_task();
    (void)tool_asks(ask(TaskAsk::What::start));
    (void)tool_asks(blocking(TaskAsk::What::output, task_id_of(1)));
    Decision const d = cancel_turn();
    EXPECT_EQ(status(1), TaskStatus::cancelled);
    EXPECT_EQ(status(2), TaskStatus::running);
    EXPECT_EQ(sent<StopRun>(d).size(), 1u);
}

TEST_F(TaskTest, TwoCallsOfAStepThatWaitForOneTaskAreCancelledTogether) {
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

TEST_F(TaskTest, CancellingEverythingCancelsAllTasks) {
    idle_with_task();
    Decision const d = when(Cancel{Cancel::Scope::all, {}});
    EXPECT_EQ(status(1), TaskStatus::cancelled);
    EXPECT_EQ(sent<StopRun>(d).size(), 1u);
}

TEST_F(TaskTest, TheEndOfTheParentEndsItsChildren) {
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

TEST_F(TaskTest, DeletingTheParentEndsItsChildren) {
    idle_with_task();
    Decision const d = when(Delete{});
    auto const stops = sent<StopRun>(d);
    ASSERT_EQ(stops.size(), 1u);
    EXPECT_TRUE(stops[0].ends);
}

// Agents as tools.

TEST_F(TaskTest, AnAgentAsAToolIsACallThatWaitsForItsChild) {
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

TEST_F(TaskTest, TheFailureOfAnAgentAsAToolIsTheErrorOfItsCall) {
    (void)create();
    (void)prompt("please");
    (void)tool_asks(ask(TaskAsk::What::call));
    Decision const d = ends(1, 1, "", FinishReason::error, "the model is down");
    EXPECT_EQ(error_in(d), "the model is down");
    EXPECT_EQ(first<Submitted>(d).receipt.status, CallStatus::failed);
}

TEST_F(TaskTest, CancellingTheCallOfAnAgentEndsItsSession) {
    (void)create();
    (void)prompt("please");
    (void)tool_asks(ask(TaskAsk::What::call));
    Decision const d = Given::cancel_call(pending(1));
    EXPECT_TRUE(state.tasks.empty());
    ASSERT_EQ(sent<StopRun>(d).size(), 1u);
    EXPECT_TRUE(sent<StopRun>(d)[0].ends);
}

TEST_F(TaskTest, TheDeadlineOfAnAgentAsAToolEndsItsSession) {
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

TEST_F(TaskTest, TheTaskOfACallIsNoneOfTheModelsTasks) {
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
