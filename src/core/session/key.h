#pragma once
// Keys under which closed things are found: keys(session, key) -> event. Immutable once written.
// Their bytes:
//   i<16 bytes>                       a request's Idempotency-Key (hash of principal, path and key)
//   p<call>.<generation>.<16 hex>     progress, by its key
//   n<call>.<generation>.<16 hex>     a note, by its digest
//   N<call>.<generation>.<k>          the k-th note of that pause
//   o<sender's 22>.<event>.<n>        a post that was taken up
//   u<sender's 22>.<event>.<n>        that one of its own could not be delivered
// Receipts need none: the pending call's row holds their event.

#include "session/command.h"
#include "session/state.h"

#include <string>
#include <vector>

namespace dormouse::session {

// How the keys begin that only mean something while their call is known.
inline constexpr std::string_view keys_of_calls = "pnN";

// The keys that `event` writes.
[[nodiscard]] std::vector<std::string> keys_of(Event const& event);

// What must be looked up before `command` is decided on `state`: exact, because closed things never
// change and the append is conditional on the head.
struct Wanted {
    std::optional<PendingId> receipt;  // of a pause that is closed (or was never opened)
    std::string earlier;               // key of an earlier request; empty: none
    std::string progress;              // key of progress; empty: none
    std::string taken;                 // key of a post; empty: none
    std::optional<Sha256> note;  // the notes of `receipt`, and whether this digest is among them
};
[[nodiscard]] Wanted wanted(State const& state, Command const& command);

// What a repeat of the request that led to `event` is told; nullopt: it bore no key.
[[nodiscard]] std::optional<Found::Earlier> earlier_in(Event const& event);
[[nodiscard]] std::string earlier_key(std::string const& idem_key);
// Of the post that the command brings; empty: it brings none.
[[nodiscard]] std::string taken_key(Command const& command);
[[nodiscard]] bool is_taken_key(std::string_view key);
[[nodiscard]] std::string progress_key(PendingId const& pending, std::string const& key);
[[nodiscard]] std::string note_key(CallNo call, Generation generation, Sha256 const& digest);
[[nodiscard]] std::string note_slot_key(CallNo call, Generation generation, std::uint32_t number);

// A pending call's row as an event changes it. `settled` stays 0 while it is open.
struct PendingChange {
    PendingId pending;
    std::optional<CallStatus> status;  // nullopt: waiting
    std::string tool;
    Time created{};
    std::optional<Time> deadline;
    Seq paused = 0;
    Seq settled = 0;
    std::string external_ref = {};
    // Of the pause, for those who are told; in no row. The URL only when it is settled.
    std::string webhook_url = {};
    std::optional<PauseReason> reason = {};
    friend bool operator==(PendingChange const&, PendingChange const&) = default;
};
// What `event` does to the rows of pending calls. REQUIRES: `before` is the state that the event is
// applied to.
[[nodiscard]] std::vector<PendingChange> pending_changes(State const& before, Event const& event);

}  // namespace dormouse::session
