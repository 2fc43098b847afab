#pragma once
// A data directory that `dormouse restore` has written holds: the file DIR/held says so. The copy
// must not repeat what the original has done, or still does, until a person releases it.

#include <dormouse/error.h>

#include <filesystem>

namespace dormouse::store::sqlite {

// While a restore writes, the file has this name; a directory that has it cannot be opened.
inline constexpr char const* restoring_name = "restoring";
inline constexpr char const* held_name = "held";

[[nodiscard]] bool is_held(std::filesystem::path const& directory);
// Durable when it returns. Blocks.
[[nodiscard]] Result<void> remove_hold(std::filesystem::path const& directory);

}  // namespace dormouse::store::sqlite
