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

// From all records, or from those from an event on.
void read_history(Runner& runner, SessionId session, SnapshotFn done);
void read_history_from(Runner& runner, SessionId session, Seq from, SnapshotFn done);

// What one pending call needs: the events that made it, what was submitted for it, and the step
// that consumed its outcome.
void read_pending(Runner& runner, port::StoreView<port::JournalStore> journal,
                  PendingId const& pending, SnapshotFn done);

// The open calls, complete: the open turn made them.
void read_open_calls(Runner& runner, SessionId session, SnapshotFn done);

}  // namespace dormouse::runner
