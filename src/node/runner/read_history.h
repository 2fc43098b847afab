#pragma once
// Histories of sessions for readers, and parts of them that cost the same however long the session
// has lived. On the loop.

#include "runner/runner.h"
#include "wire/history.h"

namespace dormouse::runner {

// Records of a session folded for people, and its lane at that moment.
struct Snapshot {
    std::shared_ptr<Lane> lane;
    wire::History history;
};
using SnapshotFn = port::Fn<void(Result<Snapshot>)>;

// All records, or those from an event on.
void read_history(Runner& runner, SessionId session, SnapshotFn done);
void read_history_from(Runner& runner, SessionId session, Seq from, SnapshotFn done);

// What one pending call needs: what made it, what was submitted for it, and which step used its
// outcome.
void read_pending(Runner& runner, port::Part<port::JournalStore> journal, PendingId const& pending,
                  SnapshotFn done);

// The open calls, whole: the open turn made them.
void read_open_calls(Runner& runner, SessionId session, SnapshotFn done);

}  // namespace dormouse::runner
