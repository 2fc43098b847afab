#pragma once
// The configuration on this machine: its file, the environment and the programs that it names.

#include "config/config.h"
#include "config/read.h"

#include <expected>
#include <string>
#include <vector>

namespace dormouse::app {

// Lines for people: "FILE:LINE: what is wrong; what to do".
using Mistakes = std::vector<std::string>;

[[nodiscard]] config::Environment config_environment();
// Empty `file`: the defaults.
[[nodiscard]] std::expected<config::Config, Mistakes> load_config(std::string const& file);
// The same while the process has one thread: first takes the variables in [server] secrets_dir.
[[nodiscard]] std::expected<config::Config, Mistakes> first_config(std::string const& file);
// [server] secrets_dir as a path; empty: none.
[[nodiscard]] std::string secrets_folder(config::Config const& config);

}  // namespace dormouse::app
