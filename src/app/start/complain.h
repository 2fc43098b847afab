#pragma once

#include <dormouse/error.h>

#include "cli/commands/cli.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::app {

// The command of the command line that runs.
struct Command {
    std::string_view name;
    cli::AsJson json = false;  // errors are one JSON object, as those of cli/commands
};

// Prints on stderr why `dormouse NAME` failed, and each of `mistakes`; returns its exit status,
// never 0.
int complain(Command const& command, Error const& error,
             std::vector<std::string> const& mistakes = {});

}  // namespace dormouse::app
