#pragma once
// dormouse.toml: text → Config. All mistakes are found in one go, and a file with one gives
// nothing.

#include "config/config.h"
#include "config/node.h"
#include "config/world.h"

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::config {

inline constexpr std::size_t file_bytes_max = std::size_t{1} << 20;

// `file` is its name: the names of files in it are relative to its folder. Problems in the order of
// their lines.
[[nodiscard]] std::expected<Config, std::vector<Problem>> read_config(std::string const& file,
                                                                      std::string_view text,
                                                                      World const& world);

// What is right and will hardly do what is wanted, in the same form.
[[nodiscard]] std::vector<Problem> warnings(Config const& config);
// Whose sessions agents are for that run as the server's user.
[[nodiscard]] std::string only_project(Config const& config);
[[nodiscard]] std::string no_sandbox_text(Config const& config);

// "FILE:LINE: what is wrong; what to do"
[[nodiscard]] std::string line_of(std::string const& file, Problem const& problem);

}  // namespace dormouse::config
