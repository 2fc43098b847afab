#pragma once
// One process at a time uses a schema. The owner holds an advisory lock on its reading connection,
// which the server releases when the process dies. Nothing depends on the lock alone: the next
// owner removes the rows of the processes before it, and the server then refuses their writes.

#include "store/postgres/connection.h"

#include <string>

namespace dormouse::store::postgres {

// Takes the lock before anything is changed. Waits a few seconds for a process that was just
// killed. Errors: wrong_state (another process owns the schema; the text names it).
[[nodiscard]] Result<void> take_ownership(Connection& connection, std::string const& schema);

// Takes the lock again after the connection was lost, without waiting: false if another connection
// still has it, perhaps the one that was lost.
[[nodiscard]] Answer<bool> retake_ownership(Connection& connection, std::string const& schema);

}  // namespace dormouse::store::postgres
