#pragma once
// Either one process uses a schema, or several that share it. Each holds an advisory lock, alone on
// its reading connection or shared on that of its heartbeats; the server releases it when the
// process dies. Nothing depends on the lock alone: the next sole owner removes the rows of the
// processes before it, and the server then refuses their writes.

#include "store/postgres/connection.h"

#include <cstdint>
#include <string>

namespace dormouse::store::postgres {

enum class Use : std::uint8_t { sole, shared };

// Takes the lock before anything is changed. Waits a few seconds for a process that was just
// killed. Errors: wrong_state (another process uses the schema otherwise; the text names it).
[[nodiscard]] Result<void> take_ownership(Connection& connection, std::string const& schema,
                                          Use use);

// Takes the name of this process. Waits a few seconds for a process that was just killed. Errors:
// wrong_state (another process has it). REQUIRES: `name` is in A-Z, a-z, 0-9, "_", "-" and ".".
[[nodiscard]] Result<void> take_name(Connection& connection, std::string const& schema,
                                     std::string const& name);
// Takes it again after the connection was lost, unless another connection has it.
[[nodiscard]] Answer<bool> retake_name(Connection& connection, std::string const& schema,
                                       std::string const& name);

// Takes the lock alone, without waiting, if no other process has it: those before this one are
// gone. It is released with release_sole(), or by the server.
[[nodiscard]] Answer<bool> try_sole(Connection& connection, std::string const& schema);
[[nodiscard]] Answer<void> release_sole(Connection& connection, std::string const& schema);

// Takes the lock again after the connection was lost, without waiting: false if another connection
// still has it, perhaps the one that was lost.
[[nodiscard]] Answer<bool> retake_ownership(Connection& connection, std::string const& schema,
                                            Use use);

// Returns true if no process uses the schema exclusively at this moment.
[[nodiscard]] Answer<bool> may_share(Connection& connection, std::string const& schema);

}  // namespace dormouse::store::postgres
