#pragma once
// Keys by which closed things are found: keys(session, key) -> event. Immutable once written.
// Forms:
//   i<16 bytes>                       a request's Idempotency-Key (hash of principal, path and key)
//   p<call>.<generation>.<16 hex>     progress, by its key
//   n<call>.<generation>.<16 hex>     a note, by its digest
//   N<call>.<generation>.<k>          the k-th note of that pause
//   o<sender's 22>.<event>.<n>        an outbox message that was applied
//   u<sender's 22>.<event>.<n>        the failed delivery of one of its own messages
// Receipts have no key: the pending call's row holds their event.

#include "session/command.h"
#include "session/state.h"

#include <string>
#include <vector>

namespace dormouse::session {

// First bytes of keys that are only needed while their call is known.
inline constexpr std::string_view keys_of_calls = "pnN";

// The keys that `event` writes.
[[nodiscard]] std::vector<std::string> keys_of(Event const& event);

// The keys to look up before `command` is decided on `state`. The result is exact: closed things
// never change, and the append is conditional on the head.
struct Wanted {
    std::optional<PendingId> receipt;  // of a pause that is closed or never existed
    std::string earlier;               // key of an earlier request; empty: none
    std::string progress;              // key of progress; empty: none
    std::string taken;                 // key of an outbox message; empty: none
    // Set: the notes of `receipt` are counted, and this digest is looked up among them.
    std::optional<Sha256> note;
    // Sums of a day; empty: none. Not set by wanted().
    std::int64_t day = 0;
    std::vector<std::string> totals = {};
};
[[nodiscard]] Wanted wanted(State const& state, Command const& command);

// The answer to a repeat of the request that led to `event`; nullopt: it had no Idempotency-Key.
[[nodiscard]] std::optional<Found::Earlier> earlier_in(Event const& event);
[[nodiscard]] std::string earlier_key(std::string const& idem_key);
// Returns the key of the outbox message that the command applies; empty: none.
[[nodiscard]] std::string taken_key(Command const& command);
[[nodiscard]] bool is_taken_key(std::string_view key);
[[nodiscard]] std::string progress_key(PendingId const& pending, std::string const& key);
[[nodiscard]] std::string note_key(CallNo call, Generation generation, Sha256 const& digest);
[[nodiscard]] std::string note_slot_key(CallNo call, Generation generation, std::uint32_t number);

// A change of a pending call's row. `settled` is 0 while the call is open.
struct PendingChange {
    PendingId pending;
    std::optional<CallStatus> status;  // nullopt: waiting
    std::string tool;
    Time created{};
    std::optional<Time> deadline;
    Seq paused = 0;
    Seq settled = 0;
    std::string external_ref = {};
    // For observers; not stored in the row. `webhook_url` is set only when the call is settled.
    std::string webhook_url = {};
    std::optional<PauseReason> reason = {};
    friend bool operator==(PendingChange const&, PendingChange const&) = default;
};
// The changes that `event` makes to rows of pending calls. REQUIRES: `before` is the state to which
// the event is applied.
[[nodiscard]] std::vector<PendingChange> pending_changes(State const& before, Event const& event);

}  // namespace dormouse::session
