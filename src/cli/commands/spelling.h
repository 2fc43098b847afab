#pragma once
// What the grammar knows of itself: the table that is told to people, and what is wrong with words
// that it refused. The only files that name CLI11 are spelling.cc and arguments.cc.

#include "cli/commands/arguments.h"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dormouse::cli {

// Commands and options with their examples, without what is hidden from help.
[[nodiscard]] CommandInfo told(CLI::App const& app);

// The first of `words` that `program` does not know (command, option, choice), with the nearest one
// that it knows. Empty when they all are known.
[[nodiscard]] std::string misspelt(CLI::App const& program, std::vector<std::string> const& words);

// CLI11's complaint that something is missing, with the names that the help uses; others unchanged.
[[nodiscard]] std::string missing(CLI::App const& command, std::string const& complaint);

// What to say of the words that nothing took.
[[nodiscard]] std::string left_over(CLI::App const& command, std::vector<std::string> const& words);

}  // namespace dormouse::cli
