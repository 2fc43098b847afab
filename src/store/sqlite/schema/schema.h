#pragma once
// The tables, and the migration of files of earlier releases.

#include "store/sqlite/connection.h"

#include <span>

namespace dormouse::store::sqlite {

// The migration steps; the first creates version 1 in an empty file. Released steps are never
// edited; new ones are only appended.
[[nodiscard]] std::span<char const* const> migrations();

// Returns the file's version; 0 for an empty file. Errors: newer_format if it is beyond
// migrations(), wrong_state if the file belongs to another program. Changes nothing.
[[nodiscard]] Result<std::size_t> version_of(Connection& connection);

// Runs the steps that the file lacks, each in one transaction: after a crash, the next call repeats
// the unfinished step.
[[nodiscard]] Result<void> migrate(Connection& connection, std::span<char const* const> steps);

}  // namespace dormouse::store::sqlite
