#pragma once
// Histories of sessions for readers, and parts of them whose cost does not depend on the session's
// age. On the loop.

#include "runner/runner.h"
#include "wire/journal/history.h"

namespace dormouse::runner {

// Records of a session folded into a history, and its lane at the same moment.
struct Snapshot {
    std::shared_ptr<Lane> lane;
    wire::History history;
};
using SnapshotFn = port::Fn<void(Result<Snapshot>)>;

// Read all records, or those from an event on.
void read_history(Runner& runner, SessionId session, SnapshotFn done);
void read_history_from(Runner& runner, SessionId session, Seq from, SnapshotFn done);

// Blocks. The part of a history that one pending call needs, without the call if it is not stored
// any more. `base`: the journal up to this event is gone; `head`: its newest event.
[[nodiscard]] Result<wire::History> read_call(port::JournalStore& store, PendingId const& pending,
                                              Seq base, Seq head);

// Reads the history of one pending call: the events that made it, the submissions for it, and the
// step that consumed its outcome.
void read_pending(Runner& runner, port::StoreView<port::JournalStore> journal,
                  PendingId const& pending, SnapshotFn done);

// The open calls, complete: the open turn made them.
void read_open_calls(Runner& runner, SessionId session, SnapshotFn done);

}  // namespace dormouse::runner
