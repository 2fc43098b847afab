#include "session/state.h"

#include "base/check.h"

// Computes when a session must be loaded next, and for what.
namespace dormouse::session {

std::optional<Time> wake_at(State const& state) {
    if (state.lifecycle == Lifecycle::none || state.lifecycle == Lifecycle::deleted)
        return std::nullopt;
    if (!state.outstanding.empty() || !state.awaiting_gate.empty()) return from_ms(0);
    if (stalled(state)) return from_ms(0);
    return next_timer(state);
}

std::set<Epoch> intent_epochs(State const& state) {
    std::set<Epoch> out;
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::running) out.insert(call.epoch);
    }
    if (state.turn && state.turn->request) out.insert(state.turn->request->epoch);
    return out;
}

std::optional<Time> next_timer(State const& state) {
    // In a session that is not active only deadlines count: nothing runs in it.
    bool const active = state.lifecycle == Lifecycle::active;
    for (Timer const& timer : state.timers) {
        if (active || timer.kind == TimerKind::deadline) return timer.at;
    }
    return std::nullopt;
}

std::map<EffectId, Effect> due_polls(State const& state, Time now) {
    std::map<EffectId, Effect> out;
    if (state.lifecycle != Lifecycle::active) return out;
    for (Timer const& timer : state.timers) {
        if (timer.at > now) break;
        if (timer.kind != TimerKind::poll) continue;
        Call const& call = state.calls.at(timer.call);
        CHECK(call.pause);
        EffectId const id{call.pause->polled, call.no};
        PollTool poll{call.pending, call.spec.tool, call.spec.input, call.pause->terms.external_ref,
                      call.pause->terms.state};
        out.emplace(id, Effect{id, std::move(poll)});
    }
    return out;
}

}  // namespace dormouse::session
