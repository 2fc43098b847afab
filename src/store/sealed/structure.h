#pragma once
// Checks an encrypted session without its keys.

#include "port/store.h"

#include <cstdint>

namespace dormouse::store {

// Reads the session's row, snapshot and frames, whose checksums the store compares, and returns the
// number of its events. Errors: those of the store, and internal (a frame has no known form).
[[nodiscard]] Result<std::uint64_t> count_events(port::JournalStore& store, SessionId session);

}  // namespace dormouse::store
