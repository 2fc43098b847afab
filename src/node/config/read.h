#pragma once
// Reads dormouse.toml into a Config. Reports all mistakes at once; a file with mistakes gives no
// Config.

#include "config/config.h"
#include "config/node.h"
#include "config/world.h"

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::config {

inline constexpr std::size_t file_bytes_max = std::size_t{1} << 20;

// `file` is the file's name; file names in it are relative to its folder. Problems are in the order
// of their lines.
[[nodiscard]] std::expected<Config, std::vector<Problem>> read_config(
    std::string const& file, std::string_view text, Environment const& environment);

// [server] secrets_dir, which must be known before the variables that the rest names are read.
// Empty: not set, or the text has mistakes.
[[nodiscard]] std::string secrets_dir_of(std::string_view text);

// Valid settings that probably do not do what is intended, in the same form.
[[nodiscard]] std::vector<Problem> warnings(Config const& config);
// The project whose sessions agents serve that run as the server's user.
[[nodiscard]] std::string only_project(Config const& config);
[[nodiscard]] std::string no_sandbox_text(Config const& config);

// "FILE:LINE: what is wrong; what to do"
[[nodiscard]] std::string line_of(std::string const& file, Problem const& problem);

}  // namespace dormouse::config
