#pragma once
// Forks of a session that lie in an archive. All functions block.

#include "archive/archive.h"
#include "runner/lane/redact/redact.h"
#include "store/memory/memory_store.h"

#include <dormouse/error.h>
#include <dormouse/id.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace dormouse::app {

// A store with the session of these lines alone.
[[nodiscard]] Result<std::unique_ptr<store::MemoryStore>> archived_store(std::string_view lines);

using RedactionAsks = std::vector<runner::RedactionAsk>;

struct ArchivedFork {
    std::size_t ask = 0;  // for which of them it was found
    runner::RedactionCopy copy;
    bool ancestor = false;  // the session was made from it, directly or not
};
using ArchivedForks = std::vector<ArchivedFork>;

// Finds what forks hold of the asks that ask for forks (RedactionAsk::forks); reads all sessions of
// the archive then. The archive need not have the session itself: then only messages, calls, turns
// and what was set can be found (wrong_state). Other errors: those of the archive, and of
// plan_redaction().
[[nodiscard]] Result<ArchivedForks> find_archived_forks(archive::Archive const& all,
                                                        SessionId session,
                                                        RedactionAsks const& asks,
                                                        session::Actor const& by, Time now);

}  // namespace dormouse::app
