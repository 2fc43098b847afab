#pragma once
// The few ways in which apply() changes State; each keeps the derived parts (sets, counters,
// timers, owed) true. For apply() and for reading snapshots back.

#include "session/state.h"

#include <stdexcept>

namespace dormouse::session {

// Thrown when a state lacks what an event, or another part of a snapshot, requires. Of bytes that
// were read from a disk it is damage, and replay() answers with an error. Of an event that was just
// decided it is a broken invariant: the lane writes nothing, and gives the session up as
// unreadable.
struct Misfit : std::logic_error {
    using std::logic_error::logic_error;
};
#define FITS(condition) \
    ((condition) ? static_cast<void>(0) : throw ::dormouse::session::Misfit(#condition))

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

[[nodiscard]] Call& call_of(State& state, CallNo no);  // REQUIRES: it is open

void add_call(State& state, Call call);  // REQUIRES: its phase is ready
void set_phase(State& state, Call& call, CallPhase phase);
// For a call that was just placed by a snapshot: it enters `phase` without leaving one.
void restore_phase(State& state, Call& call, CallPhase phase);
// When whoever is asked is first told again, if the asking begins at `at`.
[[nodiscard]] inline std::optional<Time> reminder_of(PauseTerms const& terms, Time at) {
    return terms.remind_after ? std::optional(at + *terms.remind_after) : std::nullopt;
}
void set_timer(State& state, CallNo call, TimerKind kind,
               std::optional<Time> at);  // nullopt: clears
void owe(State& state, Effect effect);
// What a turn that is not checked yet, or has ended and is not told yet, owes.
[[nodiscard]] Effect effect_of(OpenTurn const& turn);
[[nodiscard]] Effect effect_of(EndedTurn const& turn);
// Removes the effect of a call that is gating or running, or of the model or a turn (call 0).
void disown(State& state, EffectId id);

// The call is settled by the event `seq`: it leaves the state and counts for its step's join.
void close_call(State& state, CallNo no, Seq seq);

// The open turn's step is asked for by `event`, of a model or of a program, and owed from now on.
void begin_request(State& state, Event const& event, std::uint32_t step, Request request,
                   bool of_program);
// The request to the model, or the prompt of the program, is not owed any more.
void abandon_request(State& state, OpenTurn& turn);

// fold_program.cc
void prompt_program(State& state, Event const& event, AgentPrompted const& e);
void detach_program(State& state, Event const& event, AgentDetached const& e);
void hear_program(State& state, Event const& event, AgentUpdate const& e);
void end_prompt(State& state, AgentReplied const& e);
void ask_for_program(State& state, Event const& event, AgentAsked const& e);
void grant_to_program(State& state, Event const& event, AgentGranted const& e);
// REQUIRES: the call is a permission that it asked for, and still open.
void add_verdict(State& state, Seq seq, Call const& call, bool approved, bool cancelled);
[[nodiscard]] Effect effect_of(Verdict const& verdict);

// title.cc: of the first line of the first text of parts, or of messages; perhaps empty.
[[nodiscard]] std::string title_in(Json const& parts);

// fold_mail.cc
void receive_mail(State& state, Event const& event, MailReceived const& e);
void release_mail(State& state, Event const& event, MailReleased const& e);
void expire_mail(State& state, MailExpired const& e);
// A turn has begun.
void begin_with_mail(State& state);
// A request sees all up to `view`; a step has committed; the turn has ended.
void show_mail(State& state, Seq view);
void commit_mail(State& state);
void end_mail(State& state);
void restore_mail_timer(State& state);

// Gates of calls that are ready are asked as slots come free. No event of its own: it follows from
// the state.
void promote_gates(State& state, Seq seq);

}  // namespace dormouse::session
