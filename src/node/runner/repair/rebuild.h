#pragma once
// Rebuilds the rows besides a session's journal from the journal alone.

#include "port/store.h"
#include "session/state.h"
#include "wire/journal/record.h"

#include <map>
#include <vector>

namespace dormouse::runner {

struct Rebuilt {
    session::State state;
    std::map<std::pair<CallNo, Generation>, port::PendingRow> pending;
    std::map<std::string, Seq> keys;  // except those of outbox messages, which no event names
    std::map<Seq, session::ArtifactEmitted> artifacts;
};

// All that is stored of a session's journal. If retention removed a part, `base` is the state after
// it, and `records` begin with those that were still needed.
struct Journal {
    session::State base;
    std::vector<wire::RecordPtr> records;
};
[[nodiscard]] Result<Journal> read_journal(port::JournalStore& store, SessionId session);

// Rebuilds from the records after the base, and the artifacts of all records. Errors: internal,
// naming what is missing or damaged; newer_format.
[[nodiscard]] Result<Rebuilt> rebuild(Journal const& journal);

}  // namespace dormouse::runner
