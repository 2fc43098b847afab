#include "session/fold/fold.h"

#include "session/limits.h"

#include <utility>

namespace dormouse::session {

void misfit(char const* condition) { throw Misfit(condition); }

Call& call_of(State& state, CallNo no) {
    auto found = state.calls.find(no);
    FITS(found != state.calls.end());
    return found->second;
}

namespace {

bool in_work(CallPhase phase) { return phase == CallPhase::gating || phase == CallPhase::running; }

void leave_phase(State& state, Call const& call) {
    if (in_work(call.phase)) {
        FITS(state.in_work > 0);
        --state.in_work;
        remove_effect(state, {call.outstanding_since, call.no});
        set_timer(state, call.no, TimerKind::give_up, std::nullopt);
    }
    if (call.phase == CallPhase::waiting) {
        FITS(state.waiting > 0);
        --state.waiting;
        state.message_pauses.erase(call.no);
        set_timer(state, call.no, TimerKind::deadline, std::nullopt);
        set_timer(state, call.no, TimerKind::poll, std::nullopt);
        set_timer(state, call.no, TimerKind::near, std::nullopt);
        set_timer(state, call.no, TimerKind::remind, std::nullopt);
    }
    if (call.phase == CallPhase::awaiting_gate) {
        FITS(state.waiting > 0);
        --state.waiting;
        state.awaiting_gate.erase(call.no);
    }
    if (call.phase == CallPhase::retry_wait)
        set_timer(state, call.no, TimerKind::tool_retry, std::nullopt);
    if (call.phase == CallPhase::ready) {
        state.ready.erase(call.no);
        state.to_gate.erase(call.no);
    }
}

bool wants_gate(Call const& call) {
    return !call.spec.refused && call.gates_passed < call.spec.terms.gates.size();
}

void enter_phase(State& state, Call const& call) {
    FITS(call.no > 0 && call.no <= state.calls_ever);
    if (in_work(call.phase)) ++state.in_work;
    if (call.phase == CallPhase::ready) {
        state.ready.insert(call.no);
        if (wants_gate(call)) state.to_gate.insert(call.no);
    }
    if (call.phase == CallPhase::awaiting_gate) {
        ++state.waiting;
        state.awaiting_gate.insert(call.no);
    }
    if (call.phase != CallPhase::waiting) return;
    FITS(call.pause.has_value());
    ++state.waiting;
    if (call.pause->terms.continuation == Continuation::message)
        state.message_pauses.insert(call.no);
    set_timer(state, call.no, TimerKind::deadline, call.pause->deadline);
    set_timer(state, call.no, TimerKind::poll, call.pause->poll_at);
    set_timer(state, call.no, TimerKind::near, call.pause->near_at);
    set_timer(state, call.no, TimerKind::remind, call.pause->remind_at);
}

}  // namespace

void add_call(State& state, Call call) {
    FITS(call.phase == CallPhase::ready || call.phase == CallPhase::waiting);
    enter_phase(state, call);
    CallNo const no = call.no;
    FITS(state.calls.emplace(no, std::move(call)).second);
}

void set_input(Call& call, Json const& input, Sha256 const& digest) {
    if (digest != call.spec.input_digest) {
        call.spec.at_once = {};
        call.edited_by = 0;
    }
    call.spec.input = input;
    call.spec.input_digest = digest;
}

void pass_gate(Call& call, bool again) {
    FITS(call.gates_passed < call.spec.terms.gates.size());
    if (again) {
        call.edited_by = static_cast<std::uint16_t>(std::exchange(call.gates_passed, 0) + 1);
        return;
    }
    ++call.gates_passed;
    if (call.gates_passed + 1 == call.edited_by) ++call.gates_passed;
}

void set_phase(State& state, Call& call, CallPhase phase) {
    leave_phase(state, call);
    call.phase = phase;
    enter_phase(state, call);
}

void restore_phase(State& state, Call& call, CallPhase phase) {
    call.phase = phase;
    enter_phase(state, call);
}

void set_timer(State& state, CallNo call, TimerKind kind, std::optional<Time> at) {
    auto const key = std::pair(call, kind);
    if (auto old = state.timer_at.find(key); old != state.timer_at.end()) {
        state.timers.erase({old->second, kind, call});
        state.timer_at.erase(old);
    }
    if (!at) return;
    state.timer_at.emplace(key, *at);
    state.timers.insert({*at, kind, call});
    FITS(state.timers.size() == state.timer_at.size());
}

void add_effect(State& state, Effect effect) {
    auto const id = effect.id;
    FITS(state.outstanding.emplace(id, std::move(effect)).second);
    FITS(state.outstanding.size() <= limits::outstanding_max);
}

Effect effect_of(OpenTurn const& turn) {
    AskTurn ask{turn.no, turn.terms.before};
    return {{turn.unchecked, 0}, std::move(ask)};
}

Effect effect_of(EndedTurn const& turn) {
    AskTurn ask{turn.no, turn.after, true, turn.finish, turn.error, turn.usage};
    return {{turn.since, 0}, std::move(ask)};
}

void begin_request(State& state, Event const& event, std::uint32_t step, Request request,
                   bool of_agent) {
    FITS(request.attempt > 0);
    OpenTurn& turn = turn_of(state);
    abandon_request(state, turn);
    turn.committed = false;
    turn.step = step;
    turn.attempt = request.attempt;
    show_mail(state, request.view_seq);
    request.since = event.seq;
    turn.request = request;
    turn.retry.reset();
    turn.steered = false;
    turn.finish.reset();
    set_timer(state, 0, TimerKind::model_retry, std::nullopt);
    set_timer(state, 0, TimerKind::give_up, event.at + limits::model_time_limit);
    add_effect(state, {{event.seq, 0},
                       AskModel{turn.no, step, request.attempt, request.view_seq, turn.failures,
                                of_agent, turn.trace}});
}

void abandon_request(State& state, OpenTurn& turn) {
    if (!turn.request) return;
    remove_effect(state, {turn.request->since, 0});
    for (PermissionAnswer const& answer : turn.external.permissions) {
        if (answer.attempt == turn.request->attempt)
            remove_effect(state, {answer.seq, answer.call});
    }
    set_timer(state, 0, TimerKind::give_up, std::nullopt);
    turn.request.reset();
}

void remove_effect(State& state, EffectId id) { FITS(state.outstanding.erase(id) == 1); }

void close_call(State& state, CallNo no, Seq seq) {
    Call& call = call_of(state, no);
    leave_phase(state, call);
    OpenTurn& turn = turn_of(state);
    if (call.spec.budget) {  // belongs to no step; the model is not notified
        FITS(turn.budget_call == no);
        turn.budget_call = 0;
        state.calls.erase(no);
        return;
    }
    auto step = turn.open_steps.find(call.step);
    FITS(step != turn.open_steps.end() && step->second.settled < step->second.calls);
    if (++step->second.settled == step->second.calls) turn.open_steps.erase(step);
    // An external agent that waits for it is notified at once, so no new prompt is needed.
    bool const agent_knows = call.spec.ask != 0 && turn.request;
    if (!agent_knows) turn.newest_item = seq;
    state.calls.erase(no);
}

void promote_gates(State& state, Seq seq) {
    if (!state.turn || state.lifecycle != Lifecycle::active) return;
    while (!state.to_gate.empty() && state.in_work < state.turn->terms.tool_concurrency) {
        Call& call = call_of(state, *state.to_gate.begin());
        FITS(call.phase == CallPhase::ready);
        set_phase(state, call, CallPhase::gating);
        call.outstanding_since = seq;
        AskGate ask{call.no,       gate_of(call),  call.spec.tool,   call.spec.input,
                    call.decision, state.turn->no, state.turn->trace};
        add_effect(state, {{seq, call.no}, std::move(ask)});
        set_timer(state, call.no, TimerKind::give_up, state.updated + limits::gate_time_limit);
    }
}

}  // namespace dormouse::session
