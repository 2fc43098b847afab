#include "session/fold/fold.h"

// What follows from a state.
namespace dormouse::session {

Activity activity(State const& state) {
    if (!state.turn) return Activity::idle;
    if (state.turn->unchecked != 0) return Activity::busy;
    // An external agent that has asked people waits for them, whatever else it does.
    if (state.turn->terms.on_restart && state.waiting > 0) return Activity::waiting_async;
    if (state.turn->request || state.in_work > 0 || !state.ready.empty()) return Activity::busy;
    if (state.turn->retry || state.calls.size() > state.waiting) return Activity::retry;
    return state.waiting > 0 ? Activity::waiting_async : Activity::idle;
}

Call const* open_pause(State const& state, PendingId const& pending) {
    auto const found = state.calls.find(pending.call);
    if (found == state.calls.end()) return nullptr;
    Call const& call = found->second;
    bool const past = call.phase == CallPhase::ready || call.phase == CallPhase::gating ||
                      call.phase == CallPhase::awaiting_gate;
    bool const newest = call.pending == pending && !past;
    bool const question = call.question && call.question->pending == pending;
    return newest || question ? &call : nullptr;
}

std::string const& gate_of(Call const& call) {
    FITS(call.gates_passed < call.spec.terms.gates.size());
    return call.spec.terms.gates[call.gates_passed];
}

Derived derive(State const& state) {
    Derived derived;
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::ready) derived.ready.insert(no);
        bool const gate_first =
            !call.spec.refused && call.gates_passed < call.spec.terms.gates.size();
        if (call.phase == CallPhase::ready && gate_first) derived.to_gate.insert(no);
        if (call.phase == CallPhase::gating || call.phase == CallPhase::running) {
            ++derived.in_work;
            derived.outstanding.insert({call.outstanding_since, no});
        }
        if (call.phase == CallPhase::awaiting_gate) derived.awaiting_gate.insert(no);
        if (call.phase == CallPhase::awaiting_gate || call.phase == CallPhase::waiting)
            ++derived.waiting;
        if (call.phase != CallPhase::waiting) continue;
        if (call.pause->terms.continuation == Continuation::message)
            derived.message_pauses.insert(no);
    }
    if (state.turn && state.turn->request) {
        derived.outstanding.insert({state.turn->request->since, 0});
        for (PermissionAnswer const& answer : state.turn->external.permissions) {
            if (answer.attempt == state.turn->request->attempt)
                derived.outstanding.insert({answer.seq, answer.call});
        }
    }
    if (state.turn && state.turn->unchecked != 0)
        derived.outstanding.insert({state.turn->unchecked, 0});
    for (EndedTurn const& turn : state.unnotified) derived.outstanding.insert({turn.since, 0});
    return derived;
}

}  // namespace dormouse::session
