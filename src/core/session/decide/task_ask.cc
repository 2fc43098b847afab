#include "session/decide/task.h"

#include "session/decide/values.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

#include <algorithm>

// Operations on tasks, by tools and from outside. Requirement D7 fixes the error texts.
namespace dormouse::session {

namespace {

// The result of an operation. `wait`: the asking call waits for the end of the task's run.
struct Reply {
    TaskNo task = 0;
    std::string text = {};
    Json output = {};  // null: the text
    bool wait = false;
    bool again = false;  // it existed before
};
using Replied = Result<Reply>;

std::string word(TaskStatus status) { return std::string(text(status)); }

std::string name_of(Decider const& d, Task const& task) {
    return "Task " + task_id(d.state.id, task.no);
}

// A task of a call is hidden from tools.
bool is_open_to(Decider const& d, Task const& task) {
    return !task.by_call || std::holds_alternative<TaskAsk>(d.command.body);
}

std::unexpected<Error> no_task(std::string const& id) {
    return fail(Code::not_found, "Task not found: " + id);
}

Result<Task const*> find(Decider const& d, std::string const& wanted) {
    Task const* found = nullptr;
    bool several = false;
    for (auto const& [no, task] : d.state.tasks) {
        if (!is_open_to(d, task)) continue;
        std::string const id = task_id(d.state.id, no);
        if (id == wanted) return &task;
        if (wanted.empty() || !id.starts_with(wanted)) continue;
        several = found != nullptr;
        found = &task;
        if (several) break;
    }
    if (!found) return no_task(wanted);
    if (several) {
        return fail(Code::ambiguous_reference,
                    "Several tasks have an id that begins with '" + wanted + "'.");
    }
    return found;
}

std::optional<Error> refuse_ask(Decider const& d, TaskAsk const& ask) {
    if (is_full(d.state)) return journal_full().error();
    if (d.state.lifecycle == Lifecycle::completed || d.state.lifecycle == Lifecycle::error)
        return wrong_state(d.state, "run a task").error();
    return refuse_text(d, "A task's prompt", ask.parts);
}

// Calls of external agents take no slot.
bool place_is_free(State const& state) {
    auto const in_place = [](auto const& entry) {
        Task const& task = entry.second;
        return task.active() && task.queued == 0 && !task.is_call();
    };
    return static_cast<std::size_t>(std::ranges::count_if(state.tasks, in_place)) <
           limits::tasks_running_max;
}

std::string begins_text(bool at_once) {
    return at_once ? "You will be notified when it has ended."
                   : "It waits for a place (" + std::to_string(limits::tasks_running_max) +
                         " tasks run). You will be notified when it has ended.";
}

// The requester of the turn, for tasks started by a tool: forbid_requester applies to children,
// too.
Actor asker(Decider const& d) {
    bool const from_outside = std::holds_alternative<TaskAsk>(d.command.body);
    return from_outside || !d.state.turn ? d.command.by : d.state.turn->by;
}

// The open task with this mark.
Task const* open_call(State const& state, std::string const& mark) {
    if (mark.empty()) return nullptr;
    for (auto const& [no, task] : state.tasks) {
        if (task.mark == mark && task.active()) return &task;
    }
    return nullptr;
}

Replied start(Decider& d, TaskAsk const& ask, CallNo call) {
    if (auto error = refuse_ask(d, ask)) return std::unexpected(std::move(*error));
    State const& state = d.state;
    if (Task const* const open = open_call(state, ask.mark))
        return Reply{.task = open->no, .again = true};
    bool const leaf = !ask.mark.empty();  // its agent cannot start tasks
    if (!leaf && state.parent && state.parent->depth >= limits::task_depth_max) {
        return fail(Code::queue_full, "Tasks must be nested at most " +
                                          std::to_string(limits::task_depth_max) +
                                          " deep; this session is already at that depth.");
    }
    if (state.tasks.size() >= limits::tasks_max) {
        return fail(Code::queue_full, "This session has " + std::to_string(limits::tasks_max) +
                                          " tasks; clear those that have ended.");
    }
    bool const own = ask.what == TaskAsk::What::call;
    FITS(!own || call != 0);
    if (!d.context.refused.empty()) {
        bool const by_tool = std::holds_alternative<ToolOutcome>(d.command.body);
        return agent_refused(by_tool ? "" : "/agentID", d.context.refused);
    }
    if (!d.context.next_session)
        return fail(Code::overloaded, "Numbers for new sessions are being fetched; try again.");
    TaskStarted started;
    started.task = state.tasks_ever + 1;
    started.child = d.new_session();
    started.agent = ask.agent;
    started.description = ask.description;
    started.parts = ask.parts;
    started.queued = !leaf && !place_is_free(state);
    started.notify = !own;
    started.fork = ask.fork;
    started.call = own ? call : 0;
    started.by = asker(d);
    started.idem = d.idem();
    started.mark = ask.mark;
    if (!started.queued) started.trace = trace_of_sent(d);
    TaskNo const no = started.task;
    d.emit(std::move(started));
    FITS(state.tasks_ever == no && state.tasks.contains(no));
    return Reply{.task = no, .text = task_id(state.id, no), .wait = own};
}

Replied result_of(Decider& d, Task const& task) {
    FITS(!task.active());
    TaskNo const no = task.no;
    if (!task.error.empty()) {
        std::string error = task.error;
        withdraw_notices(d, no, "its output was read");
        return fail(Code::wrong_state, std::move(error));
    }
    Json const result = task.result.is_null() ? text_json("") : task.result;
    withdraw_notices(d, no, "its output was read");
    return Reply{.task = no, .output = result};
}

Replied output(Decider& d, TaskAsk const& ask) {
    auto const found = find(d, ask.task);
    if (!found) return std::unexpected(found.error());
    Task const& task = **found;
    if (!task.active()) return result_of(d, task);
    if (ask.block) return Reply{.task = task.no, .wait = true};
    std::string const doing = task.queued != 0                     ? "waits for a place"
                              : task.status == TaskStatus::resumed ? "is resumed"
                                                                   : "is running";
    std::string const progress = task.progress.empty() ? "" : " Progress: " + task.progress;
    std::string const text = name_of(d, task) + " " + doing + "." + progress +
                             " You will be notified when it has ended.";
    if (!task.notify) expect_notice(d, task);
    return Reply{.task = task.no, .text = text};
}

std::optional<Error> refuse_resume(Task const& task) {
    if (task.status == TaskStatus::resumed) {
        return Error{Code::task_resuming,
                     "Task is currently being resumed. Wait for completion before sending another "
                     "message."};
    }
    if (task.status == TaskStatus::completed) {
        if (!task.gone) return std::nullopt;
        return Error{Code::task_session_gone, std::string(session_gone_text)};
    }
    return Error{Code::task_not_completed, "Cannot resume task: status is '" + word(task.status) +
                                               "'. Only completed tasks can be resumed."};
}

Replied resume(Decider& d, TaskAsk const& ask) {
    auto const found = find(d, ask.task);
    if (!found) return std::unexpected(found.error());
    Task const& task = **found;
    if (auto error = refuse_resume(task)) return std::unexpected(std::move(*error));
    if (auto error = refuse_ask(d, ask)) return std::unexpected(std::move(*error));
    FITS(task.status == TaskStatus::completed && !task.gone);
    withdraw_notices(d, task.no, "the task was resumed");
    bool const at_once = place_is_free(d.state);
    TaskChanged changed;
    changed.task = task.no;
    changed.status = TaskStatus::resumed;
    changed.run = task.run + 1;
    changed.parts = ask.parts;
    changed.queued = !at_once;
    changed.begins = at_once;
    changed.notify = !ask.block;
    changed.idem = d.idem();
    changed.by = asker(d);
    if (at_once) changed.trace = trace_of_sent(d);
    d.emit(std::move(changed));
    FITS(task.active() && (task.queued == 0) == at_once);
    return Reply{.task = task.no,
                 .text = name_of(d, task) + " is resumed. " + begins_text(at_once),
                 .wait = ask.block};
}

Replied cancel(Decider& d, TaskAsk const& ask) {
    if (ask.task.empty()) {
        auto const active = [](auto const& entry) { return entry.second.active(); };
        auto const count = std::ranges::count_if(d.state.tasks, active);
        cancel_tasks(d, ask.reason);
        return Reply{.text = "Tasks cancelled: " + std::to_string(count)};
    }
    auto const found = find(d, ask.task);
    if (!found) return std::unexpected(found.error());
    Task const& task = **found;
    if (!task.active()) {
        return fail(Code::wrong_state, "Cannot cancel task: status is '" + word(task.status) + "'.",
                    object_json("from", text(task.status), "move", "cancel"));
    }
    Reply reply{.task = task.no, .text = name_of(d, task) + " is cancelled."};
    cancel_task(d, task.no, ask.reason);
    return reply;
}

Replied clear(Decider& d, TaskAsk const& ask) {
    static std::string const why = "The task was cleared.";
    if (!ask.task.empty()) {
        auto const found = find(d, ask.task);
        if (!found) return std::unexpected(found.error());
        Reply reply{.task = (*found)->no, .text = name_of(d, **found) + " is cleared."};
        clear_one(d, reply.task, why);
        return reply;
    }
    std::vector<TaskNo> all;
    for (auto const& [no, task] : d.state.tasks) {
        if (is_open_to(d, task) && !task.is_call()) all.push_back(no);
    }
    for (TaskNo no : all) clear_one(d, no, why);
    return Reply{.text = "Tasks cleared: " + std::to_string(all.size())};
}

Replied list(Decider& d, TaskAsk const& ask) {
    json::Writer out;
    out.begin_array();
    for (auto const& [no, task] : d.state.tasks) {
        if (!is_open_to(d, task) || (ask.only && task.status != *ask.only)) continue;
        out.begin_object().member("taskID", task_id(d.state.id, no));
        out.member("description", task.description).member("agentID", task.agent);
        out.member("status", text(task.status)).member("resumeCount", task.run - 1);
        if (!task.progress.empty()) out.member("progress", task.progress);
        if (task.queued != 0) out.member("queued", true);
        out.end_object();
    }
    return Reply{.output = out.end_array().json()};
}

// Reports progress of the current run to the parent.
Replied report(Decider& d, TaskAsk const& ask) {
    State const& state = d.state;
    if (is_full(state)) return journal_full();
    if (ask.description.size() > limits::report_bytes_max)
        return over_limit("A report", "report_bytes", limits::report_bytes_max);
    if (!state.parent || !state.turn || state.turn->run == 0)
        return fail(Code::wrong_state, "This session is not running a task.",
                    object_json("from", "idle", "move", "report"));
    FITS(ask.what == TaskAsk::What::report);
    d.emit(RunReported{state.turn->run, ask.description});
    return Reply{.text = "Progress reported."};
}

Replied take(Decider& d, TaskAsk const& ask, CallNo call) {
    switch (ask.what) {
        case TaskAsk::What::report: return report(d, ask);
        case TaskAsk::What::start:
        case TaskAsk::What::call: return start(d, ask, call);
        case TaskAsk::What::output: return output(d, ask);
        case TaskAsk::What::resume: return resume(d, ask);
        case TaskAsk::What::cancel: return cancel(d, ask);
        case TaskAsk::What::clear: return clear(d, ask);
        case TaskAsk::What::list: return list(d, ask);
    }
    return unknown();
}

// Only the runtime answers such a call.
PauseTerms until_end(Decider const& d, TaskAsk const& ask, TaskNo task) {
    FITS(d.state.tasks.contains(task));
    PauseTerms terms;
    terms.reason = PauseReason::handoff;
    terms.continuation = Continuation::tool_response;
    terms.placeholder = object_json("status", "running", "taskID", task_id(d.state.id, task));
    terms.timeout = ask.timeout;
    terms.task = task;
    FITS(terms.valid());
    return terms;
}

}  // namespace

void ask_tasks(Decider& d, ToolOutcome const& c, TaskAsk const& ask) {
    CallNo const no = c.pending.call;
    auto const reply = take(d, ask, no);
    if (!reply) {
        std::string const& why = reply.error().detail;
        return end_run(d, {no, c.attempt, ErrorReason::failed, {}, why, {}, {}},
                       submitted_error(why).digest);
    }
    if (reply->wait) {
        PauseTerms const terms = until_end(d, ask, reply->task);
        return d.emit(CallPaused{c.pending, terms,
                                 deadline_of(terms, d.state.calls.at(no).spec.terms, d.at)});
    }
    Json const output = reply->output.is_null() ? text_json(reply->text) : reply->output;
    end_run(d, {no, c.attempt, std::nullopt, output, {}, {}, {}}, submitted_result(output).digest);
}

Result<Answer> handle(Decider& d, TaskAsk const& c) {
    if (d.context.found.earlier) {
        Found::Earlier const& earlier = *d.context.found.earlier;
        if (earlier.idem != d.idem()) {
            return fail(Code::idempotency_mismatch,
                        "This Idempotency-Key was used with another request body.");
        }
        return Answer{
            .outcome = Answer::Outcome::duplicate, .seq = earlier.seq, .task = earlier.task};
    }
    // `call` waits in a tool call, and `output` withdraws a notice: neither works from outside.
    if (c.what == TaskAsk::What::call || c.what == TaskAsk::What::output) return unknown();
    auto const reply = take(d, c, 0);
    if (!reply) return std::unexpected(reply.error());
    return Answer{.outcome = reply->again ? Answer::Outcome::duplicate : Answer::Outcome::applied,
                  .seq = d.state.head,
                  .task = reply->task};
}

}  // namespace dormouse::session
