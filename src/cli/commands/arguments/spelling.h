#pragma once
// Describes the CLI11 grammar for help texts and explains words that it refused. Only spelling.cc
// and arguments.cc include CLI11.

#include "cli/commands/arguments/arguments.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dormouse::cli {

// Returns the commands and options with their examples, without hidden ones.
[[nodiscard]] CommandInfo info_of(CLI::App const& app);

// Explains the first of `words` that `program` does not know (command, option, choice) and names
// the nearest known one. Empty when all are known.
[[nodiscard]] std::string misspelt(CLI::App const& program, std::vector<std::string> const& words);

// Rewrites CLI11's message about a missing argument with the names that help uses; returns others
// unchanged.
[[nodiscard]] std::string missing(CLI::App const& command, std::string const& complaint);

// Explains the words that no argument took.
[[nodiscard]] std::string left_over(CLI::App const& command, std::vector<std::string> const& words);

}  // namespace dormouse::cli
