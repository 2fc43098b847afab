#pragma once
// Scripts that teach a shell this command line. Pure: made from the command table; ids they ask
// `dormouse candidates` for.

#include "cli/commands/arguments.h"

#include <string>

namespace dormouse::cli {

[[nodiscard]] std::string bash_completion(CommandInfo const& program);
[[nodiscard]] std::string zsh_completion(CommandInfo const& program);
[[nodiscard]] std::string fish_completion(CommandInfo const& program);

// What the value called `name` is completed with: "session", "call", "id", "agent", "tool" (asked
// for), "file", "dir", or "text" (nothing).
[[nodiscard]] std::string_view completed_with(std::string_view name);

}  // namespace dormouse::cli
