#pragma once
// Helpers for rows, shared by the parts of MemoryStore.

#include "store/memory/memory_store.h"

#include <string>

namespace dormouse::store {

[[nodiscard]] inline Seq last_of(port::Frame const& frame) { return frame.first + frame.count - 1; }

[[nodiscard]] inline Seq head_of(MemoryDisk::Session const& session) {
    return session.frames.empty() ? 0 : last_of(session.frames.rbegin()->second);
}

// Returns whether no other session of the project may use its alias.
[[nodiscard]] inline bool holds_alias(port::SessionRow const& row, std::string const& project) {
    bool const live = row.status != "completed" && row.status != "deleted";
    return live && !row.alias.empty() && row.project == project;
}

}  // namespace dormouse::store
