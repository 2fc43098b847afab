#include "session/decide/task.h"

#include "base/trace.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

#include <algorithm>

// The next work is recorded in the append of the event that made it possible (rule 2): calls start
// as slots come free, the model is asked, the turn ends, the next input begins a turn.
namespace dormouse::session {

namespace {

// A quorum larger than the step means all of its calls: a step whose calls have all settled is not
// open.
std::uint32_t needed(Join const& join, StepState const& step) {
    return join.n == 0 ? step.calls : join.n;
}

bool unconsumed(State const& state) { return state.turn->newest_item > state.committed_view; }

bool joins_met(OpenTurn const& turn) {
    return turn.steered || std::ranges::all_of(turn.open_steps, [&](auto const& entry) {
               return entry.second.settled >= needed(turn.terms.join, entry.second);
           });
}

// Rule 4: the model may be asked.
bool may_ask(State const& state) {
    FITS(state.turn.has_value());
    OpenTurn const& turn = *state.turn;
    bool const all_wait = state.calls.size() == state.waiting;
    bool const free = turn.unchecked == 0 && !turn.request && !turn.retry && turn.budget_call == 0;
    return free && all_wait && joins_met(turn) && unconsumed(state);
}

bool can_end(State const& state) {
    FITS(state.turn.has_value());
    FITS(!state.turn->finish || !state.turn->request);
    return state.turn->finish && state.calls.empty() && !unconsumed(state);
}

bool may_start_turn(State const& state) {
    bool const room = state.unnotified.size() < limits::unnotified_turns_max;
    return room && (!state.queue.empty() || waking_mail(state) != nullptr);
}

bool may_start_call(State const& state) {
    FITS(state.turn.has_value());
    return !state.ready.empty() && state.in_work < state.turn->terms.tool_concurrency;
}

// Join `any`: once a step has what it needs, its other calls are cancelled.
bool has_rest(Join const& join, StepState const& step) {
    return join.cancel_rest && step.settled >= needed(join, step) && step.settled < step.calls;
}

bool may_cancel_rest(OpenTurn const& turn) {
    return std::ranges::any_of(turn.open_steps, [&](auto const& entry) {
        return has_rest(turn.terms.join, entry.second);
    });
}

void start_turn(Decider& d) {
    FITS(!d.state.turn && !d.state.queue.empty());
    QueuedInput const input = d.state.queue.front();
    TurnStarted started{input.turn, input.seq, input.source, d.context.terms, false};
    bool const had = input.source == InputSource::external;
    if (had) started.terms.before.clear();
    if (had) started.terms.after.clear();
    d.emit(std::move(started));
    if (!had) return;
    // The external agent had the input first, in its own terminal: the turn has nothing to do.
    AgentOutput answer{.kind = AgentOutputKind::message, .body = input.answer, .begins = true};
    if (!input.answer.is_null())
        d.emit(AgentUpdate{0, 0, input.turn, d.state.head + 1, std::move(answer)});
    end_turn(d, FinishReason::stop, std::nullopt, "");
}

// The mail that woke the session is the input; the rest of the inbox is seen with it.
void start_mail_turn(Decider& d, InboxItem const& mail) {
    FITS(!d.state.turn && mail.seq <= d.state.head);
    d.emit(TurnStarted{d.state.turns + 1, mail.seq, InputSource::mail, d.context.terms, false});
}

// Prompts first: their turn sees the mail, too.
void start_next_turn(Decider& d) {
    if (!d.state.queue.empty()) return start_turn(d);
    InboxItem const* const mail = waking_mail(d.state);
    FITS(mail != nullptr);
    start_mail_turn(d, *mail);
}

void start_ready_calls(Decider& d) {
    // While a slot is free no ready call has a gate left to ask, so the first one may start.
    State const& state = d.state;
    while (may_start_call(state)) {
        FITS(state.to_gate.empty());
        start_tool(d, *state.ready.begin());
    }
}

// Starts due retries as slots come free. A retry that waits for a slot is not in work.
void start_due_retries(Decider& d) {
    FITS(d.state.turn.has_value());
    std::vector<CallNo> due;
    for (Timer const& timer : d.state.timers) {
        if (timer.at > d.at) break;
        if (timer.kind == TimerKind::tool_retry) due.push_back(timer.call);
    }
    for (CallNo no : due) {
        if (d.state.in_work >= d.state.turn->terms.tool_concurrency) return;
        Call const& call = d.state.calls.at(no);
        FITS(call.phase == CallPhase::retry_wait);
        d.emit(ToolStarted{call.pending, call.attempt + 1, d.context.epoch});
    }
}

void cancel_rest(Decider& d) {
    FITS(d.state.turn.has_value());
    std::vector<CallNo> rest;
    for (auto const& [step, calls] : d.state.turn->open_steps) {
        if (!has_rest(d.state.turn->terms.join, calls)) continue;
        for (auto it = d.state.calls.lower_bound(calls.first);
             it != d.state.calls.end() && it->first < calls.first + calls.calls; ++it) {
            rest.push_back(it->first);
        }
    }
    for (CallNo no : rest) {
        // Cancelled with another call that waited for the same task.
        if (!d.state.calls.contains(no)) continue;
        cancel_call(d, no, "another call of the step settled first");
    }
}

void ask_model(Decider& d) {
    trace();
    FITS(d.state.turn && !d.state.turn->request && !d.state.turn->retry);
    OpenTurn const& turn = *d.state.turn;
    if (turn.terms.on_restart) return prompt_again(d);
    std::uint32_t const step = turn.committed ? turn.step + 1 : turn.step;
    std::uint32_t const attempt = turn.committed ? 1 : turn.attempt + 1;
    d.emit(ModelRequested{step, attempt, d.state.head, d.context.epoch});
}

}  // namespace

void start_tool(Decider& d, CallNo no) {
    Call const& call = d.state.calls.at(no);
    FITS(call.phase == CallPhase::ready && !call.spec.refused);
    auto at_once = call.spec.at_once;
    if (auto stashed = d.at_once.extract(no)) at_once = std::move(stashed.mapped());
    auto const terms = call.spec.terms;
    bool const goes_on = call.resumed.has_value();
    PendingId const pending = d.new_pending(call);
    d.emit(ToolStarted{pending, 1, d.context.epoch});
    if (at_once && !goes_on)
        d.emit(
            CallPaused{pending, with_reminders(d, *at_once), deadline_of(*at_once, terms, d.at)});
}

void cancel_call(Decider& d, CallNo no, std::string const& why, std::string const& reason) {
    static Sha256 const digest = submitted_error("cancelled").digest;
    Call const& call = d.state.calls.at(no);
    FITS(call.phase != CallPhase::waiting || call.pause);
    if (call.question) {
        auto question = d.receipt(call.question->pending, SubmissionKind::cancel,
                                  CallStatus::cancelled, digest);
        d.emit(Cancelled{no, question, false, why, reason});
    }
    bool const ran =
        call.phase == CallPhase::running || call.phase == CallPhase::retry_wait || call.in_doubt;
    Cancelled cancelled{no, std::nullopt, ran, why, reason};
    if (ran || call.phase == CallPhase::waiting) {
        cancelled.receipt =
            d.receipt(call.pending, SubmissionKind::cancel, CallStatus::cancelled, digest);
    }
    TaskNo const task = call.phase == CallPhase::waiting ? call.pause->terms.task : 0;
    d.emit(std::move(cancelled));
    FITS(!d.state.calls.contains(no));
    if (task != 0) stop_waiting(d, task, reason);
}

void end_turn(Decider& d, FinishReason finish, std::optional<Trouble> error, std::string const& why,
              std::string const& reason) {
    FITS(d.state.turn.has_value());
    while (!d.state.calls.empty()) cancel_call(d, d.state.calls.begin()->first, why, reason);
    d.emit(TurnEnded{d.state.turn->no, finish, d.state.turn->usage, std::move(error), reason});
    FITS(!d.state.turn && d.state.last_turn);
}

// Says of each step of advance() whether it would do something; due retries are timers.
bool stalled(State const& state) {
    if (state.lifecycle != Lifecycle::active) return false;
    if (state.agent == no_agent) return !state.turn || state.calls.empty();
    if (!state.turn) return may_start_turn(state);
    return may_cancel_rest(*state.turn) || may_start_call(state) || can_end(state) ||
           may_ask(state);
}

void advance(Decider& d) {
    FITS(d.context.drives);
    if (d.state.agent == no_agent) {
        if (d.state.lifecycle == Lifecycle::active) end_asked(d);
        return;
    }
    while (d.state.lifecycle == Lifecycle::active) {
        if (!d.state.turn && !may_start_turn(d.state)) return;
        if (!d.state.turn) start_next_turn(d);
        if (!d.state.turn) continue;
        cancel_rest(d);  // first, so that nothing starts only to be cancelled
        start_due_retries(d);
        start_ready_calls(d);
        if (can_end(d.state)) {
            end_turn(d, *d.state.turn->finish, std::nullopt, "the turn ended");
            continue;
        }
        if (!may_ask(d.state)) return;
        if (d.state.turn->committed && d.state.turn->step >= d.state.turn->terms.step_limit) {
            end_turn(d, FinishReason::step_limit,
                     Trouble{"step_limit", "The turn used up its steps."},
                     "the turn used up its steps");
            continue;
        }
        if (d.state.turn->committed && ask_about_budget(d)) return;
        return ask_model(d);
    }
}

}  // namespace dormouse::session
