#include "session/decide/task.h"

#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

#include <algorithm>

// The runs of tasks. The end of a run notifies what waits for it in the same append.
namespace dormouse::session {

namespace {

// The result of a run, for a call that waited for it.
Submission outcome_of(Task const& task) {
    if (!task.error.empty()) return submitted_error(task.error);
    return submitted_result(task.result.is_null() ? text_json("") : task.result);
}

void settle_by_runtime(Decider& d, Call const& call, Submission what) {
    CHECK(what.kind == SubmissionKind::result || what.kind == SubmissionKind::error);
    bool const failed = what.kind == SubmissionKind::error;
    Receipt receipt = d.receipt(call.pending, what.kind,
                                failed ? CallStatus::failed : CallStatus::completed, what.digest);
    receipt.by = {};
    receipt.via = "runtime";
    d.emit(Submitted{std::move(receipt), std::move(what)});
}

// Returns the number of calls that waited.
std::size_t settle_waiting(Decider& d, TaskNo task, Submission const& what) {
    FITS(task != 0);  // 0 would be that of all calls that wait for people
    std::vector<CallNo> waiting;
    for (auto const& [no, call] : d.state.calls) {
        if (call.phase == CallPhase::waiting && call.pause->terms.task == task)
            waiting.push_back(no);
    }
    for (CallNo no : waiting) settle_by_runtime(d, d.state.calls.at(no), what);
    return waiting.size();
}

void give_notice(Decider& d, Task const& task) {
    FITS(task.no != 0);
    std::string const notice = "Task " + task_id(d.state.id, task.no) + ": " +
                               std::string(text(task.status)) +
                               ". Read its output with background_output.";
    Json const parts = text_parts(text_json(notice));
    d.emit(InputReceived{
        d.state.turns + 1, InputSource::task, PromptMode::queue, parts, {}, {}, {}, 0, task.no});
}

// Outcomes that wait for a turn share one. No other queued task input has neither a run nor a task.
TurnNo turn_of_outcomes(State const& state) {
    for (QueuedInput const& input : state.queue) {
        bool const outcome = input.source == InputSource::task && input.run == 0 && input.task == 0;
        auto const together = std::ranges::count(state.queue, input.turn, &QueuedInput::turn);
        if (outcome && together < limits::outcomes_together_max) return input.turn;
    }
    return state.turns + 1;
}

// The outcome of a call made by the external agent. The input holds the outcome itself, because the
// agent may have lost the call.
void give_outcome(Decider& d, Task const& call) {
    FITS(call.is_call() && !call.active());
    Json const outcome = call.error.empty() && !call.result.is_null()
                             ? call.result
                             : text_json(call.description + ": " + call.error);
    Json const parts = text_parts(outcome);
    d.emit(InputReceived{
        turn_of_outcomes(d.state), InputSource::task, PromptMode::queue, parts, {}, {}, {}, 0, 0});
}

// Starts queued runs as slots come free, oldest first.
void begin_waiting(Decider& d) {
    for (;;) {
        Task const* next = nullptr;
        std::size_t running = 0;
        for (auto const& [no, task] : d.state.tasks) {
            if (!task.active()) continue;
            if (task.queued == 0 && !task.is_call()) ++running;
            if (task.queued != 0 && (!next || task.queued < next->queued)) next = &task;
        }
        if (!next || running >= limits::tasks_running_max) return;
        d.emit(TaskChanged{.task = next->no,
                           .status = next->status,
                           .run = next->run,
                           .begins = true,
                           .trace = trace_of_sent(d)});
        FITS(next->queued == 0);  // so the loop ends
    }
}

void clear_task(Decider& d, TaskNo no, std::string const& why) {
    if (d.state.tasks.at(no).active()) (void)settle_waiting(d, no, submitted_error(why));
    withdraw_notices(d, no, why);
    d.emit(TaskCleared{no, why});
    FITS(!d.state.tasks.contains(no));
}

// `notify`: gives the notice that the session expects, unless a call waited.
void end_task_run(Decider& d, TaskChanged changed, bool notify) {
    TaskNo const no = changed.task;
    FITS(d.state.tasks.at(no).active() && changed.run == d.state.tasks.at(no).run);
    bool const outstanding = notify && d.state.tasks.at(no).notify;
    d.emit(std::move(changed));
    Task const& task = d.state.tasks.at(no);
    FITS(!task.active());
    std::size_t const informed = settle_waiting(d, no, outcome_of(task));
    if (task.by_call) {
        clear_task(d, no, "Its call has ended.");
    } else if (task.is_call()) {
        if (informed == 0 && outstanding) give_outcome(d, task);
        clear_task(d, no, "It has its outcome.");
    } else if (informed == 0 && outstanding) {
        give_notice(d, task);
    }
    begin_waiting(d);
}

TaskChanged end_of(Task const& task, TaskStatus first, std::string error) {
    FITS(task.run > 0);
    TaskChanged changed;
    changed.task = task.no;
    changed.run = task.run;
    changed.status = task.run == 1 ? first : TaskStatus::completed;
    changed.error = std::move(error);
    return changed;
}

void child_is_gone(Decider& d, Task const& task) {
    if (task.gone) return;
    TaskChanged changed;
    changed.task = task.no;
    changed.run = task.run;
    changed.gone = true;
    changed.status = task.status;
    if (!task.active()) return d.emit(std::move(changed));
    FITS(task.run > 0);
    changed.status = TaskStatus::error;
    changed.error = session_gone_text;
    end_task_run(d, std::move(changed), true);
}

Task const* find(State const& state, TaskNo no, SessionId child) {
    auto const found = state.tasks.find(no);
    bool const its = found != state.tasks.end() && found->second.child == child;
    return its ? &found->second : nullptr;
}

}  // namespace

std::string task_id(SessionId const& session, TaskNo task) {
    return numbered_id("tsk_", session, task);
}

void withdraw_notices(Decider& d, TaskNo task, std::string const& why) {
    for (QueuedInput const& input : std::vector(d.state.queue)) {
        if (input.task == task) d.emit(InputDropped{input.seq, why});
    }
}

void run_ended(Decider& d, SessionId from, RunEnded const& ended) {
    Task const* const task = find(d.state, ended.task, from);
    if (!task) return;
    if (ended.gone) return child_is_gone(d, *task);
    if (!task->active() || task->queued != 0 || task->run != ended.run) return;
    bool const cancelled = ended.finish == FinishReason::cancelled;
    bool const failed = cancelled || !ended.error.empty() || ended.finish == FinishReason::error ||
                        ended.finish == FinishReason::step_limit;
    TaskStatus const first = cancelled ? TaskStatus::cancelled
                             : failed  ? TaskStatus::error
                                       : TaskStatus::completed;
    TaskChanged changed = end_of(*task, first, ended.error);
    if (!failed) changed.result = ended.reply;
    if (failed && changed.error.empty())
        changed.error = cancelled ? "The task was cancelled." : "The task failed.";
    end_task_run(d, std::move(changed), true);
}

// Wakes nothing.
void run_goes_on(Decider& d, SessionId from, RunProgress const& progress) {
    Task const* const task = find(d.state, progress.task, from);
    bool const its = task && task->active() && task->queued == 0 && task->run == progress.run;
    if (!its || is_full(d.state)) return;
    TaskChanged changed;
    changed.task = task->no;
    changed.status = task->status;
    changed.run = task->run;
    changed.progress = progress.text;
    d.emit(std::move(changed));
}

void child_is_gone(Decider& d, SessionId child, TaskNo no) {
    if (Task const* const task = find(d.state, no, child)) child_is_gone(d, *task);
}

void cancel_task(Decider& d, TaskNo no, std::string const& reason) {
    Task const& task = d.state.tasks.at(no);
    FITS(task.active());
    std::string const why =
        reason.empty() ? "The task was cancelled." : "The task was cancelled: " + reason;
    TaskChanged changed = end_of(task, TaskStatus::cancelled, why);
    changed.reason = reason;
    changed.stops = task.queued == 0;
    changed.gone = !task.begun();  // the child was never created
    bool const from_outside = std::holds_alternative<TaskAsk>(d.command.body);
    end_task_run(d, std::move(changed), from_outside);
}

void cancel_tasks(Decider& d, std::string const& reason) {
    std::vector<TaskNo> active;
    for (auto const& [no, task] : d.state.tasks) {
        if (task.active()) active.push_back(no);
    }
    for (TaskNo no : active) {
        if (d.state.tasks.contains(no)) cancel_task(d, no, reason);
    }
}

void clear_tasks(Decider& d, std::string const& why) {
    while (!d.state.tasks.empty()) clear_task(d, d.state.tasks.begin()->first, why);
}

void clear_one(Decider& d, TaskNo task, std::string const& why) {
    clear_task(d, task, why);
    begin_waiting(d);
}

void stop_waiting(Decider& d, TaskNo no, std::string const& reason) {
    auto const found = d.state.tasks.find(no);
    if (found == d.state.tasks.end() || !found->second.active()) return;
    if (found->second.by_call) return clear_one(d, no, "Its call was cancelled.");
    cancel_task(d, no, reason);
}

void end_wait_without_result(Decider& d, Call const& call) {
    FITS(call.phase == CallPhase::waiting && call.pause->terms.task != 0);
    TaskNo const no = call.pause->terms.task;
    Task const& task = d.state.tasks.at(no);
    auto const ms = call.pause->terms.timeout.value_or(Duration()).count();
    std::string const id = task_id(d.state.id, no);
    Json const output = text_json("Task " + id + " has not ended within " + std::to_string(ms) +
                                  " ms. You will be notified when it has ended.");
    if (!task.notify) expect_notice(d, task);
    settle_by_runtime(d, call, submitted_result(output));
}

void expect_notice(Decider& d, Task const& task) {
    FITS(d.state.tasks.contains(task.no));
    TaskChanged changed;
    changed.task = task.no;
    changed.status = task.status;
    changed.run = task.run;
    changed.notify = true;
    d.emit(std::move(changed));
}

}  // namespace dormouse::session
