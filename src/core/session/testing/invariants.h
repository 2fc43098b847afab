#pragma once
// Invariants of every state: derived members are consistent, and the session is in exactly one
// class of rule 15.

#include "session/limits.h"
#include "session/state.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace dormouse::session::testing {

// Rule 15. Empty: the session is stuck. Two words: it is in two classes.
[[nodiscard]] inline std::string class_of(State const& state) {
    bool const over =
        state.lifecycle == Lifecycle::completed || state.lifecycle == Lifecycle::deleted;
    bool const active = state.lifecycle == Lifecycle::active;
    bool const held = state.lifecycle == Lifecycle::paused || state.lifecycle == Lifecycle::error;
    bool const later =
        state.turn && (state.turn->retry || std::ranges::any_of(state.calls, [](auto const& entry) {
                           return entry.second.phase == CallPhase::retry_wait;
                       }));
    // Notifying interceptors of an ended turn happens beside the session's next work. No turn
    // begins while there are too many of these.
    bool const full = !state.turn && !state.queue.empty() &&
                      state.unnotified.size() >= limits::unnotified_turns_max;
    bool const outstanding =
        state.outstanding.size() > state.unnotified.size() || later || full || stalled(state);
    bool const waits = state.turn && !state.calls.empty() && state.calls.size() == state.waiting;
    std::string out;
    if (over && !state.turn && state.queue.empty() && !outstanding) out += "ended";
    if (held) out += "stopped";
    bool const mail_later = state.timer_at.contains({0, TimerKind::mail});
    bool const rests = active && !state.turn && state.queue.empty() && !outstanding;
    if (rests && !mail_later && !waking_mail(state)) out += "idle";
    if (rests && mail_later) out += "outstanding";
    if (active && outstanding) out += "outstanding";
    if (active && !outstanding && waits) out += "waiting";
    return out;
}

// Every waiting call has a source: a deadline, or someone outside who may answer.
[[nodiscard]] inline bool has_source(Call const& call) {
    return call.pause->deadline || call.question || call.pause->terms.task != 0 ||
           call.pause->terms.reason != PauseReason::handoff;
}

// Timers that follow from the calls and the turn. give_up timers are checked apart.
[[nodiscard]] inline std::map<std::pair<CallNo, TimerKind>, Time> expected_times(
    State const& state) {
    std::map<std::pair<CallNo, TimerKind>, Time> out;
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::waiting && call.pause->deadline) {
            out[{no, TimerKind::deadline}] = *call.pause->deadline;
        }
    }
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::waiting && call.pause->poll_at)
            out[{no, TimerKind::poll}] = *call.pause->poll_at;
        if (call.pause && call.phase == CallPhase::waiting && call.pause->near_at)
            out[{no, TimerKind::near}] = *call.pause->near_at;
        if (call.phase == CallPhase::waiting && call.pause->remind_at)
            out[{no, TimerKind::remind}] = *call.pause->remind_at;
    }
    if (state.turn && state.turn->retry) out[{0, TimerKind::model_retry}] = state.turn->retry->at;
    for (InboxItem const& item : state.inbox) {
        auto const due = [&](Time at) {
            auto const [next, fresh] = out.try_emplace({0, TimerKind::mail}, at);
            if (!fresh) next->second = std::min(next->second, at);
        };
        if (item.hold == MailHold::minute) due(item.until);
        if (may_expire(state, item)) due(*item.expires);
    }
    return out;
}

[[nodiscard]] inline std::string broken_timers(State const& state) {
    std::string out;
    for (auto const& [whose, at] : expected_times(state)) {
        if (!state.timer_at.contains(whose) || state.timer_at.at(whose) != at)
            out += "a time is not kept; ";
    }
    for (auto const& [whose, at] : state.timer_at) {
        auto const [no, kind] = whose;
        if (!state.timers.contains({at, kind, no})) out += "timers differ; ";
        if (no != 0 && !state.calls.contains(no)) out += "a time of a call that is closed; ";
        bool const of_retry = kind == TimerKind::tool_retry;
        if (of_retry && state.calls.at(no).phase != CallPhase::retry_wait)
            out += "a retry of a call that runs; ";
    }
    if (state.timers.size() != state.timer_at.size()) out += "timers differ; ";
    for (auto const& [id, effect] : state.outstanding) {
        // Interceptors of turns have a time limit of their own. A permission's notification is
        // outstanding as long as the prompt.
        bool const turn = std::holds_alternative<AskTurn>(effect.what) ||
                          std::holds_alternative<NotifyAgent>(effect.what);
        if (!turn && !state.timer_at.contains({id.call, TimerKind::give_up}))
            out += "outstanding for ever; ";
    }
    return out;
}

[[nodiscard]] inline std::string broken_wake(State const& state) {
    std::string const what = class_of(state);
    auto const wake = wake_at(state);
    bool const at_start =
        !state.outstanding.empty() || !state.awaiting_gate.empty() || stalled(state);
    if (at_start != (wake == from_ms(0))) return "wake_at and outstanding differ; ";
    if (stalled(state)) return "";
    if (at_start && state.outstanding.size() == state.unnotified.size() &&
        state.awaiting_gate.empty())
        return "";
    if ((what == "idle" || what == "ended") && wake) return "a session at rest wants to be woken; ";
    if (what == "outstanding" && !wake) return "outstanding, and nothing wakes it; ";
    if (what != "waiting" || at_start) return "";
    auto const first =
        state.timers.empty() ? std::nullopt : std::optional(state.timers.begin()->at);
    return wake == first ? "" : "wake_at is not the earliest deadline; ";
}

// Describes every violation; empty: none.
[[nodiscard]] inline std::string broken_of(State const& state) {
    std::string out;
    Derived const derived = derive(state);
    std::set<EffectId> outstanding;
    for (auto const& [id, effect] : state.outstanding) outstanding.insert(id);
    if (derived.ready != state.ready) out += "ready differs; ";
    if (derived.message_pauses != state.message_pauses) out += "message pauses differ; ";
    if (derived.awaiting_gate != state.awaiting_gate) out += "awaiting_gate differs; ";
    if (derived.in_work != state.in_work) out += "the number in work differs; ";
    if (derived.waiting != state.waiting) out += "the number that waits differs; ";
    if (derived.outstanding != outstanding) out += "outstanding differs; ";
    if (state.turn && state.in_work > state.turn->terms.tool_concurrency)
        out += "more in work than slots; ";
    for (auto const& [no, call] : state.calls) {
        if (call.phase == CallPhase::waiting && !has_source(call))
            out += "a waiting call has no source; ";
        if (call.phase == CallPhase::awaiting_gate &&
            call.gates_passed >= call.spec.terms.gates.size())
            out += "a call awaits no gate; ";
    }
    static std::vector<std::string> const classes{"ended", "stopped", "idle", "outstanding",
                                                  "waiting"};
    if (std::ranges::find(classes, class_of(state)) == classes.end()) {
        out += "not in one class of rule 15: '" + class_of(state) + "'; ";
    }
    return out + broken_timers(state) + broken_wake(state);
}

}  // namespace dormouse::session::testing
