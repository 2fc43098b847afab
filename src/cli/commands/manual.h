#pragma once
// The manual page dormouse(1), in roff with the macros of man(7). Pure: made from the command
// table.

#include "cli/commands/arguments.h"

#include <string>

namespace dormouse::cli {

[[nodiscard]] std::string manual(CommandInfo const& program, std::string const& version);

// A text in which roff finds no request, escape or character that it would change.
[[nodiscard]] std::string roff(std::string_view text);

}  // namespace dormouse::cli
