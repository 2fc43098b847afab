#include "session/replay.h"

#include "session/fold/fold.h"
#include "session/limits.h"

#include <map>
#include <utility>

namespace dormouse::session {

namespace {

bool has_gate(Call const& call) { return call.gates_passed < call.spec.terms.gates.size(); }

// Checks what commands and effects assume about an open call.
void check_call(State const& state, CallNo no, Call const& call) {
    auto const own = [&](PendingId const& id) { return id.call == no; };
    FITS(call.no == no && no > 0 && no <= state.calls_ever);
    bool const has_id = call.phase == CallPhase::running || call.phase == CallPhase::waiting;
    FITS(own(call.pending) || (!has_id && call.pending == PendingId()));
    FITS(!call.question || own(call.question->pending));
    FITS(call.phase <= CallPhase::awaiting_gate);
    FITS(call.phase != CallPhase::waiting || call.pause);
    FITS(call.phase == CallPhase::ready || call.spec.ask == 0 || call.pause);
    FITS(!call.spec.budget || call.phase == CallPhase::waiting);
    bool const by_gate = call.phase == CallPhase::gating || call.phase == CallPhase::awaiting_gate;
    FITS(!by_gate || has_gate(call));
    FITS(!call.pause || !call.pause->by_gate || call.phase != CallPhase::waiting || has_gate(call));
    FITS(!call.decision || has_gate(call));
}

// Each open step counts its open calls.
void check_steps(State const& state) {
    FITS(state.turn || state.calls.empty());
    if (!state.turn) return;
    std::map<std::uint32_t, std::uint32_t> open;
    CallNo budget = 0;
    for (auto const& [no, call] : state.calls) {
        if (call.spec.budget) FITS(std::exchange(budget, no) == 0);
        if (!call.spec.budget) ++open[call.step];
    }
    FITS(state.turn->budget_call == budget);
    FITS(open.size() == state.turn->open_steps.size());
    for (auto const& [step, calls] : state.turn->open_steps) {
        FITS(open.contains(step) && calls.settled < calls.calls);
        FITS(open.at(step) == calls.calls - calls.settled);
    }
}

bool in_work(Call const& call) {
    return call.phase == CallPhase::gating || call.phase == CallPhase::running;
}

void check_timers(State const& state) {
    FITS(state.timers.size() == state.timer_at.size());
    for (Timer const& timer : state.timers) {
        if (timer.call == 0) {
            bool const of_model =
                timer.kind == TimerKind::model_retry || timer.kind == TimerKind::give_up;
            FITS(of_model || timer.kind == TimerKind::mail);
            FITS(!of_model || state.turn);
            FITS(timer.kind != TimerKind::give_up || state.turn->request);
            continue;
        }
        auto const call = state.calls.find(timer.call);
        FITS(call != state.calls.end());
        switch (timer.kind) {
            case TimerKind::tool_retry: FITS(call->second.phase == CallPhase::retry_wait); break;
            case TimerKind::give_up: FITS(in_work(call->second)); break;
            case TimerKind::model_retry:
            case TimerKind::mail: FITS(timer.call == 0); break;
            default: FITS(call->second.phase == CallPhase::waiting && call->second.pause);
        }
    }
}

void check_outstanding(State const& state) {
    Derived const derived = derive(state);
    FITS(derived.ready == state.ready && derived.awaiting_gate == state.awaiting_gate);
    FITS(derived.message_pauses == state.message_pauses);
    FITS(derived.in_work == state.in_work && derived.waiting == state.waiting);
    FITS(state.outstanding.size() <= limits::outstanding_max &&
         state.outstanding.size() == derived.outstanding.size());
    for (auto const& [id, effect] : state.outstanding) FITS(derived.outstanding.contains(id));
}

void check_parts(State const& state) {
    FITS(state.lifecycle != Lifecycle::none || state.head == 0);
    FITS(state.head <= limits::seq_max && state.base.through <= state.head);
    FITS(!state.turn || state.turn->no <= state.turns);
    for (auto const& [no, call] : state.calls) check_call(state, no, call);
    for (auto const& [no, task] : state.tasks)
        FITS(task.no == no && no > 0 && no <= state.tasks_ever);
    check_steps(state);
    check_timers(state);
    check_outstanding(state);
}

}  // namespace

Result<void> check_sound(State const& state) {
    try {
        check_parts(state);
    } catch (Misfit const& misfit) {
        return fail(Code::internal, "The stored state of " + state.id.text() +
                                        " contradicts itself: " + misfit.what());
    }
    return {};
}

}  // namespace dormouse::session
