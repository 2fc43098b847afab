#pragma once
// The functions by which apply() changes State. Each keeps the derived members (sets, counters,
// timers, outstanding effects) consistent. Used by apply() and when snapshots are decoded.

#include "session/state.h"

#include <stdexcept>

namespace dormouse::session {

// Thrown when a state lacks what an event, or another part of a snapshot, requires. For bytes read
// from disk it means damage, and replay() returns an error. For an event that was just decided it
// means a broken invariant: the lane writes nothing and marks the session unreadable.
struct Misfit : std::logic_error {
    using std::logic_error::logic_error;
};
// Throws Misfit.
[[noreturn]] void misfit(char const* condition);
#define FITS(condition) \
    ((condition) ? static_cast<void>(0) : ::dormouse::session::misfit(#condition))

[[nodiscard]] inline OpenTurn& turn_of(State& state) {
    FITS(state.turn.has_value());
    return *state.turn;
}
[[nodiscard]] inline Request& request_of(OpenTurn& turn) {
    FITS(turn.request.has_value());
    return *turn.request;
}
[[nodiscard]] inline Pause& pause_of(Call& call) {
    FITS(call.pause.has_value());
    return *call.pause;
}

[[nodiscard]] Call& call_of(State& state, CallNo no);  // REQUIRES: the call is open

// A pause that was made from former arguments is not that of these: the tool itself decides then.
void set_input(Call& call, Json const& input, Sha256 const& digest);
// The call's next gate allowed it. `again`: it changed the arguments, so the gates before it come
// again, and it counts as passed after them.
void pass_gate(Call& call, bool again);

void add_call(State& state, Call call);  // REQUIRES: it is ready or waits
void set_phase(State& state, Call& call, CallPhase phase);
// Lets a call that a snapshot has just placed enter `phase`, without leaving another one.
void restore_phase(State& state, Call& call, CallPhase phase);
// Time of the first reminder of a pause that begins at `at`.
[[nodiscard]] inline std::optional<Time> reminder_of(PauseTerms const& terms, Time at) {
    return terms.remind_after ? std::optional(at + *terms.remind_after) : std::nullopt;
}
// Returns when deadline_near of a pause that begins at `at` is due; nullopt: never.
[[nodiscard]] inline std::optional<Time> near_of(Pause const& pause, Time at) {
    auto const& before = pause.terms.warn_before;
    if (!pause.deadline || !before || *pause.deadline - *before <= at) return std::nullopt;
    return *pause.deadline - *before;
}
// Returns a new call for add_call() that waits from its first event on, AgentAsked or
// BudgetReached.
template <class Asked>
[[nodiscard]] Call asked_call(State& state, Event const& event, Asked const& e) {
    Call call;
    call.no = ++state.calls_ever;
    FITS(call.no == e.pending.call);
    call.step = e.step;
    call.spec = e.spec;
    call.phase = CallPhase::waiting;
    call.generation = e.pending.generation;
    call.pending = e.pending;
    call.created = call.started = event.at;
    call.pause = Pause{e.terms, e.deadline, event.at, event.seq};
    call.pause->remind_at = reminder_of(e.terms, event.at);
    return call;
}
void set_timer(State& state, CallNo call, TimerKind kind,
               std::optional<Time> at);  // nullopt: clears the timer
void add_effect(State& state, Effect effect);
// The outstanding effect of a turn whose interceptors have not been asked, or not been notified.
[[nodiscard]] Effect effect_of(OpenTurn const& turn);
[[nodiscard]] Effect effect_of(EndedTurn const& turn);
// Removes the effect of a gating or running call, or of the request or a turn (call 0).
void remove_effect(State& state, EffectId id);

// The event `seq` settles the call: it leaves the state and counts for its step's join.
void close_call(State& state, CallNo no, Seq seq);

// `event` starts the request of the open turn's step; its effect is outstanding from now on.
void begin_request(State& state, Event const& event, std::uint32_t step, Request request,
                   bool of_agent);
// Drops the open request, or prompt, and its effects.
void abandon_request(State& state, OpenTurn& turn);

// fold_external_agent.cc
void prompt_agent(State& state, Event const& event, AgentPrompted const& e);
void detach_agent(State& state, Event const& event, AgentDetached const& e);
void receive_from_agent(State& state, Event const& event, AgentUpdate const& e);
void end_prompt(State& state, AgentReplied const& e);
void ask_for_agent(State& state, Event const& event, AgentAsked const& e);
void grant_to_agent(State& state, Event const& event, AgentGranted const& e);
// REQUIRES: the call is an open permission of the external agent.
void add_permission(State& state, Seq seq, Call const& call, bool approved, bool cancelled);
[[nodiscard]] Effect effect_of(PermissionAnswer const& answer);

// fold_budget.cc
void ask_about_budget(State& state, Event const& event, BudgetReached const& e);
void raise_budget(State& state, BudgetRaised const& e);
// Adds the time since the newest event if the open turn worked then.
void count_work(State& state, Time now);

// title.cc: the first line of the first text in parts or messages; may be empty.
[[nodiscard]] std::string title_in(Json const& parts);

// fold_mail.cc
void receive_mail(State& state, Event const& event, MailReceived const& e);
void release_mail(State& state, Event const& event, MailReleased const& e);
void expire_mail(State& state, MailExpired const& e);
// A turn has begun.
void begin_with_mail(State& state);
// `view`: up to where a request sees; commit: a step has committed; end: the turn has ended.
void show_mail(State& state, Seq view);
void commit_mail(State& state);
void end_mail(State& state);
void restore_mail_timer(State& state);

// Asks gates of ready calls as slots come free. Writes no event: it follows from the state.
void promote_gates(State& state, Seq seq);

}  // namespace dormouse::session
