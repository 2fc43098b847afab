#pragma once
// `demo --nodes N`: several servers on one PostgreSQL database, of which one is killed.

#include "cli/commands/commands.h"

#include <string>

namespace dormouse::cli {

// Checks that the flags fit together. Error: usage.
[[nodiscard]] Outcome<void> check_demo(DemoArgs const& args);
// Starts and ends the servers with data directories in `folder`. REQUIRES: check_demo(args), and
// args.nodes.
[[nodiscard]] Outcome<int> demo_of_nodes(Context const& context, DemoArgs const& args,
                                         std::string const& folder);

}  // namespace dormouse::cli
