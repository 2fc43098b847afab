#include "session/decide/decider.h"

#include "base/check.h"
#include "base/trace.h"
#include "session/fold/fold.h"
#include "session/limits.h"
#include "session/submission.h"

#include <algorithm>

// Rule 3: resolves what a crash cut off. Runs that were started by a process that is gone, and are
// not finished, are in doubt. Writes nothing if nothing is in doubt.
namespace dormouse::session {

void doubt(Decider& d, Call const& call, std::string const& why) {
    FITS(call.phase == CallPhase::running);
    bool const outside = call.spec.terms.may_pause_for(PauseReason::tool_result);
    bool const asks = call.spec.terms.crash == CrashPolicy::ask;
    CallInDoubt in_doubt{call.pending, call.spec.terms.crash, std::nullopt, std::nullopt, why};
    if (!outside && !asks) {
        std::string const text = why.empty() ? "outcome unknown" : "outcome unknown: " + why;
        return end_run(d, {call.no, call.attempt, ErrorReason::unknown, {}, text, {}, {}},
                       submitted_error(text).digest);
    }
    if (outside) in_doubt.deadline = deadline_of(PauseTerms{}, call.spec.terms, d.at);
    if (asks) {
        in_doubt.question = d.new_pending(call);
        in_doubt.remind_after = d.context.limits.remind_after;
        in_doubt.remind_every = d.context.limits.remind_every;
    }
    d.emit(std::move(in_doubt));
}

namespace {

void apply_crash_policy(Decider& d, Call const& call) {
    FITS(call.phase == CallPhase::running);
    if (call.spec.terms.crash == CrashPolicy::retry) {
        d.emit(ToolStarted{call.pending, call.attempt + 1, d.context.epoch});
    } else {
        doubt(d, call, "");
    }
}

// Gates change with the configuration, which a process reads at start. A gate that was being asked
// while the runtime was down is asked again and does not time out for it.
void ask_gates_again(Decider& d, Adopt const& c) {
    std::vector<std::pair<CallNo, bool>> changed;
    for (auto const& [no, call] : d.state.calls) {
        bool const awaiting_gate = call.phase == CallPhase::awaiting_gate;
        if (!awaiting_gate && call.phase != CallPhase::gating) continue;
        bool const missing =
            std::ranges::find(c.missing_gates, gate_of(call)) != c.missing_gates.end();
        bool const late = !awaiting_gate && d.state.timer_at.at({no, TimerKind::give_up}) <= d.at;
        if (missing ? !awaiting_gate : awaiting_gate || late) changed.emplace_back(no, missing);
    }
    for (auto const& [no, missing] : changed) {
        Call const& call = d.state.calls.at(no);
        FITS(!missing || call.phase == CallPhase::gating);
        std::string const gate = gate_of(call);
        missing ? d.emit(GateMissing{no, gate}) : d.emit(GateBack{no, gate});
    }
}

}  // namespace

Result<Answer> handle(Decider& d, Adopt const& c) {
    trace();
    CHECK(d.context.drives);
    auto const gone = [&](Epoch epoch) { return std::ranges::find(c.gone, epoch) != c.gone.end(); };
    std::vector<CallNo> cut_off;
    for (auto const& [no, call] : d.state.calls) {
        if (call.phase == CallPhase::running && gone(call.epoch)) cut_off.push_back(no);
    }
    for (CallNo no : cut_off) apply_crash_policy(d, d.state.calls.at(no));
    if (d.state.turn && d.state.turn->request && gone(d.state.turn->request->epoch)) {
        OpenTurn const& turn = *d.state.turn;
        if (turn.terms.on_restart) {
            lose_agent(d, {"restarted", "The server stopped while the agent worked."}, false);
        } else {
            d.emit(ModelRequested{turn.step, turn.attempt + 1, d.state.head, d.context.epoch});
        }
    }
    ask_gates_again(d, c);
    return done(d);
}

// handle() for Tick does nothing: decide() writes what is due before it and advances after it.
Result<Answer> handle(Decider& d, Tick const&) { return done(d); }

}  // namespace dormouse::session
