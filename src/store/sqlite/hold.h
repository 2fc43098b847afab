#pragma once
// A data directory that `dormouse restore` has written, or into which `dormouse import` has put
// sessions with outstanding work, holds: the file DIR/held says so. The copy must not repeat what
// the original has done, or still does, until a person releases it.

#include <dormouse/error.h>

#include <filesystem>
#include <string>

namespace dormouse::store::sqlite {

// While a restore writes, the file has this name; a directory that has it cannot be opened.
inline constexpr char const* restoring_name = "restoring";
inline constexpr char const* held_name = "held";

[[nodiscard]] bool is_held(std::filesystem::path const& directory);
// Makes the directory hold. `why`: one line, for people. Both are durable when they return; they
// block.
[[nodiscard]] Result<void> write_hold(std::filesystem::path const& directory,
                                      std::string const& why);
[[nodiscard]] Result<void> remove_hold(std::filesystem::path const& directory);

}  // namespace dormouse::store::sqlite
