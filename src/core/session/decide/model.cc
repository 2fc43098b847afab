#include "session/decide/decider.h"
#include "session/fold/fold.h"
#include "session/limits.h"

#include <algorithm>

// Replies of the model. Only the newest attempt commits; replies to older attempts are dropped.
namespace dormouse::session {

namespace {

template <class Outcome> bool is_current(State const& state, Outcome const& c) {
    if (!state.turn || !state.turn->request) return false;
    return state.turn->no == c.turn && state.turn->step == c.step &&
           state.turn->request->attempt == c.attempt;
}

// Exponential back-off with jitter in the upper half, so that sessions do not retry together.
Duration retry_delay(Decider& d, std::uint32_t failures, std::optional<Duration> retry_after) {
    if (retry_after) return std::clamp(*retry_after, Duration(0), limits::retry_after_max);
    Duration const ceiling =
        std::min(limits::retry_max, limits::retry_base * (1 << std::min(failures, 10U)));
    auto const bits = d.draw();
    return ceiling / 2 + (ceiling / 2) * bits[0] / 255;
}

void fail_model(Decider& d, Trouble error, bool may_retry, std::optional<Duration> retry_after) {
    FITS(d.state.turn && d.state.turn->request);
    OpenTurn const& turn = *d.state.turn;
    bool const again = may_retry && turn.failures + 1 < limits::model_failures_max;
    ModelFailed failed{turn.step, turn.attempt, error, std::nullopt};
    if (again) failed.retry_at = d.at + retry_delay(d, turn.failures, retry_after);
    d.emit(std::move(failed));
    if (!again) end_turn(d, FinishReason::error, std::move(error), "the model failed");
}

// Takes the pauses of calls that get a slot at once (advance() starts them in this append). Does
// nothing if a call has gates, because gates take slots first, or if this process starts nothing.
void stash_at_once(Decider& d, ModelReplied& replied) {
    if (!d.context.drives) return;
    bool const gated = std::ranges::any_of(
        replied.calls, [](CallSpec const& c) { return !c.terms.gates.empty(); });
    if (gated || !d.state.ready.empty() || d.state.lifecycle != Lifecycle::active) return;
    FITS(d.state.in_work <= d.state.turn->terms.tool_concurrency);
    std::uint32_t slots = d.state.turn->terms.tool_concurrency - d.state.in_work;
    for (std::size_t i = 0; i < replied.calls.size() && slots > 0; ++i) {
        CallSpec& spec = replied.calls[i];
        if (spec.refused) continue;
        if (!spec.at_once) --slots;
        if (!spec.at_once) continue;
        d.at_once.emplace(replied.first_call + static_cast<CallNo>(i), std::move(*spec.at_once));
        spec.at_once.reset();
    }
}

// Settles calls that cannot run before the others start.
void refuse_calls(Decider& d, CallNo first) {
    FITS(first > 0 && first <= d.state.calls_ever + 1);
    std::vector<CallNo> refused;
    for (auto it = d.state.calls.lower_bound(first); it != d.state.calls.end(); ++it) {
        if (it->second.spec.refused) refused.push_back(it->first);
    }
    for (CallNo no : refused) {
        std::string const why = *d.state.calls.at(no).spec.refused;
        d.emit(ToolFinished{no, 0, ErrorReason::failed, {}, why, {}, {}});
    }
}

std::string too_many_calls(std::size_t requested, std::size_t open, Limits const& limits) {
    return "The model asked for " + std::to_string(requested) + " calls at once (at most " +
           std::to_string(limits.calls_per_reply) + "), " + std::to_string(open) +
           " would be open (at most " + std::to_string(limits.open_calls) + ").";
}

}  // namespace

void give_up_model(Decider& d) {
    FITS(d.state.turn && d.state.turn->request);
    if (d.state.turn->terms.on_restart)
        return lose_agent(d, {"agent_crashed", "No process of the agent runs this prompt."}, true);
    fail_model(d, {"model_failed", "The model did not answer in time."}, true, std::nullopt);
}

Result<Answer> handle(Decider& d, ModelReply const& c) {
    if (!is_current(d.state, c)) return done(d);
    std::size_t const open = d.state.calls.size() + c.calls.size();
    if (c.calls.size() > d.context.limits.calls_per_reply || open > d.context.limits.open_calls) {
        fail_model(d, {"model_failed", too_many_calls(c.calls.size(), open, d.context.limits)},
                   false, std::nullopt);
        return done(d);
    }
    // The calls of a truncated reply are dropped; its text is kept.
    bool const whole = c.finish != FinishReason::length;
    ModelReplied replied{c.step,
                         c.attempt,
                         c.finish,
                         c.parts,
                         whole ? c.calls : std::vector<CallSpec>(),
                         d.state.calls_ever + 1,
                         c.usage};
    stash_at_once(d, replied);
    CallNo const first = replied.first_call;
    d.emit(std::move(replied));
    FITS(d.state.turn->committed && !d.state.turn->request);
    refuse_calls(d, first);
    return done(d);
}

Result<Answer> handle(Decider& d, ModelFailure const& c) {
    if (is_current(d.state, c)) fail_model(d, c.error, c.may_retry, c.retry_after);
    return done(d);
}

}  // namespace dormouse::session
