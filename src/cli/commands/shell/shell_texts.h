#pragma once
// Shell completion for bash, zsh and fish, and the manual page dormouse(1), made from the command
// table and the files of templates/. The scripts ask `dormouse candidates` for ids. Pure.

#include "cli/commands/arguments/arguments.h"

#include <string>
#include <string_view>

namespace dormouse::cli {

// `shell`: bash, zsh or fish.
[[nodiscard]] std::string completion(std::string_view shell, CommandInfo const& program);
// Returns the manual page as roff with the macros of man(7).
[[nodiscard]] std::string manual(CommandInfo const& program, std::string const& version);

// Returns how the value called `name` is completed: "session", "call", "id", "agent", "tool" (the
// server is asked), "file", "dir", or "text" (not completed).
[[nodiscard]] std::string_view completed_with(std::string_view name);
// Escapes `text` so that roff finds no request, escape or special character in it.
[[nodiscard]] std::string roff(std::string_view text);

}  // namespace dormouse::cli
