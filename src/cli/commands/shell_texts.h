#pragma once
// What teaches a shell and a person this command line: completion for bash, zsh and fish, and the
// manual page dormouse(1). Made from the command table and the files of templates/. Pure. Ids the
// scripts ask `dormouse candidates` for.

#include "cli/commands/arguments.h"

#include <string>
#include <string_view>

namespace dormouse::cli {

// `shell`: bash, zsh or fish.
[[nodiscard]] std::string completion(std::string_view shell, CommandInfo const& program);
// In roff with the macros of man(7).
[[nodiscard]] std::string manual(CommandInfo const& program, std::string const& version);

// What the value called `name` is completed with: "session", "call", "id", "agent", "tool" (asked
// for), "file", "dir", or "text" (nothing).
[[nodiscard]] std::string_view completed_with(std::string_view name);
// A text in which roff finds no request, escape or character that it would change.
[[nodiscard]] std::string roff(std::string_view text);

}  // namespace dormouse::cli
