#include "session/decide/task.h"

#include "session/decide/values.h"
#include "session/expiry.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

// Rule 9: what is due by a command's time is written first, in its append. A call has expired only
// once `expired` is durable.
namespace dormouse::session {

void give_up_model(Decider& d);  // model.cc

namespace {

Receipt by_runtime(Decider const& d, Call const& call, SubmissionKind kind, CallStatus status,
                   Sha256 const& digest) {
    Receipt receipt = d.receipt(call.pending, kind, status, digest);
    receipt.by = {};
    receipt.via = "runtime";
    return receipt;
}

// The deadline is the awaited outcome.
void time_is_up(Decider& d, Call const& call) {
    Submission what = submitted_result(text_json("done"));
    d.emit(Submitted{
        by_runtime(d, call, SubmissionKind::result, CallStatus::completed, what.digest), what});
}

void expire(Decider& d, CallNo no) {
    FITS(d.state.calls.at(no).phase == CallPhase::waiting);
    if (Call const& call = d.state.calls.at(no); !call.pause->terms.escalate_to.empty()) {
        PauseTerms const& terms = call.pause->terms;
        return d.emit(
            Reassigned{call.pending, terms.escalate_to, deadline_of(terms, call.spec.terms, d.at)});
    }
    if (Call const& call = d.state.calls.at(no); call.question) {
        auto receipt =
            d.receipt(call.question->pending, SubmissionKind::expiry, CallStatus::expired,
                      submitted_error("Tool execution timed out").digest);
        receipt.by = {};
        d.emit(Cancelled{no, receipt, false, "its call expired"});
    }
    Call const& call = d.state.calls.at(no);
    TaskNo const task = call.pause->terms.task;
    bool const own = task != 0 && d.state.tasks.at(task).by_call;
    if (task != 0 && !own) return end_wait_without_result(d, call);
    OnDeadline const policy = call.pause->terms.on_deadline;
    if (policy == OnDeadline::done) return time_is_up(d, call);
    auto const budget = call.spec.budget;
    Pause const pause = *call.pause;
    ErrorReason reason = policy == OnDeadline::deny ? ErrorReason::denied : ErrorReason::expired;
    if (call.in_doubt) reason = ErrorReason::unknown;
    std::string const text(expiry_text(pause.terms.reason, reason));
    d.emit(Expired{by_runtime(d, call, SubmissionKind::expiry, CallStatus::expired,
                              submitted_error(text).digest),
                   reason});
    if (own) clear_one(d, task, "Its call has expired.");
    if (budget) expire_budget(d, *budget, pause);
}

void give_up(Decider& d, CallNo no) {
    bool const has_time = d.context.model_until && *d.context.model_until > d.at;
    if (no == 0 && has_time) return;
    if (no == 0) return give_up_model(d);
    Call const& call = d.state.calls.at(no);
    FITS(call.phase == CallPhase::gating || call.phase == CallPhase::running);
    if (call.phase == CallPhase::gating) {
        auto const& waiting = d.context.gates_not_begun;
        if (std::ranges::find(waiting, no) != waiting.end()) return;
        std::string const gate = gate_of(call);
        d.emit(GateDecided{no,
                           gate,
                           false,
                           "denied: gate '" + gate + "' did not decide in time",
                           std::nullopt,
                           {}});
        return;
    }
    auto const seconds = call.spec.terms.time_limit.count() / 1000;
    std::string const why =
        "the tool took longer than its time limit of " + std::to_string(seconds) + " s";
    end_run(d, {no, call.attempt, ErrorReason::failed, {}, why, {}, {}},
            submitted_error(why).digest);
}

// Does nothing if the deadline has passed, too.
void warn(Decider& d, CallNo no) {
    Call const& call = d.state.calls.at(no);
    FITS(call.phase == CallPhase::waiting && call.pause);
    if (call.pause->deadline && *call.pause->deadline <= d.at) return;
    d.emit(DeadlineNear{call.pending, call.pause->deadline});
}

// One reminder for all that were missed. Does nothing if the deadline has passed, too.
void remind(Decider& d, CallNo no) {
    Call const& call = d.state.calls.at(no);
    FITS(call.phase == CallPhase::waiting && call.pause);
    Pause const& pause = *call.pause;
    if (pause.deadline && *pause.deadline <= d.at) return;
    std::uint32_t const number = pause.reminders + 1;
    auto const every = pause.terms.remind_every;
    bool const again = every && number < limits::reminders_max;
    PendingId const& asked = call.question ? call.question->pending : call.pending;
    d.emit(Reminded{asked, number, again ? std::optional(d.at + *every) : std::nullopt});
}

void fall_due(Decider& d, Timer const& timer) {
    switch (timer.kind) {
        case TimerKind::deadline: return expire(d, timer.call);
        case TimerKind::give_up: return give_up(d, timer.call);
        case TimerKind::tool_retry:  // advance() starts it when a slot is free
        case TimerKind::poll:        // nothing is decided here: the lane polls (due_polls)
            return;
        case TimerKind::near: return warn(d, timer.call);
        case TimerKind::remind: return remind(d, timer.call);
        case TimerKind::mail: return mail_is_due(d);
        case TimerKind::model_retry: {
            FITS(d.state.turn && !d.state.turn->request);
            OpenTurn const& turn = *d.state.turn;
            if (turn.terms.on_restart) return prompt_again(d);
            return d.emit(
                ModelRequested{turn.step, turn.attempt + 1, d.state.head, d.context.epoch});
        }
    }
}

// Only the driver gives up what it started, and starts again.
bool for_driver(TimerKind kind) {
    return kind == TimerKind::give_up || kind == TimerKind::model_retry;
}

}  // namespace

void fall_due(Decider& d) {
    std::vector<Timer> due;
    for (Timer const& timer : d.state.timers) {
        if (timer.at > d.at) break;
        due.push_back(timer);
    }
    for (Timer const& timer : due) {
        bool const counts =
            d.state.lifecycle == Lifecycle::active || timer.kind == TimerKind::deadline;
        bool const ours = d.context.drives || !for_driver(timer.kind);
        if (counts && ours && d.state.timers.contains(timer)) fall_due(d, timer);
    }
    withdraw_question(d);
}

PauseTerms with_reminders(Decider const& d, PauseTerms terms) {
    bool const job =
        terms.reason == PauseReason::tool_result || terms.reason == PauseReason::handoff;
    if (job || terms.remind_after) return terms;
    terms.remind_after = d.context.limits.remind_after;
    terms.remind_every = d.context.limits.remind_every;
    return terms;
}

std::optional<Time> deadline_of(PauseTerms const& terms, ToolTerms const& tool, Time at) {
    std::optional<Duration> timeout = terms.timeout;
    if (terms.reason == PauseReason::tool_result) {
        if (!timeout) timeout = tool.pause_timeout;
        if (!timeout) timeout = limits::pause_timeout_default;
    }
    if (!timeout || *timeout == Duration::max()) return std::nullopt;
    return at + *timeout;
}

}  // namespace dormouse::session
