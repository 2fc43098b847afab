#pragma once
// The tables, and how a file of an earlier release becomes one of this release.

#include "store/sqlite/connection.h"

#include <span>

namespace dormouse::store::sqlite {

// Numbered steps, the first makes version 1 of an empty file. Steps are never edited once released,
// only added.
[[nodiscard]] std::span<char const* const> migrations();

// The file's version: 0 for an empty one. Errors: newer_format when it is beyond migrations(),
// wrong_state when the file belongs to another program. Changes nothing.
[[nodiscard]] Result<std::size_t> version_of(Connection& connection);

// Takes the steps that the file lacks, each in one transaction: whoever is killed in the middle
// goes on with the step that was not finished.
[[nodiscard]] Result<void> migrate(Connection& connection, std::span<char const* const> steps);

}  // namespace dormouse::store::sqlite
