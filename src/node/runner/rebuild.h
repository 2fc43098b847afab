#pragma once
// What stands beside a session's journal, made from nothing but the journal.

#include "port/store.h"
#include "session/state.h"
#include "wire/record.h"

#include <map>
#include <vector>

namespace dormouse::runner {

struct Rebuilt {
    session::State state;
    std::map<std::pair<CallNo, Generation>, port::PendingRow> pending;
    std::map<std::string, Seq> keys;  // but for those of posts, which no event names
    std::map<Seq, session::ArtifactEmitted> artifacts;
};

// All that is kept of a session. Of what retention took, `base` is the state after it, and
// `records` begin with those that were still to be used.
struct Journal {
    session::State base;
    std::vector<wire::RecordPtr> records;
};
[[nodiscard]] Result<Journal> read_journal(port::JournalStore& store, SessionId session);

// Of what came after the base, and the artifacts of all records. Errors: internal, naming what is
// missing or damaged; newer_format.
[[nodiscard]] Result<Rebuilt> rebuild(Journal const& journal);

}  // namespace dormouse::runner
