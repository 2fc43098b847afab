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

// Errors: internal, naming what is missing or damaged; newer_format.
[[nodiscard]] Result<Rebuilt> rebuild(SessionId const& session,
                                      std::vector<wire::RecordPtr> const& records);

}  // namespace dormouse::runner
