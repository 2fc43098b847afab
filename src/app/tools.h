#pragma once
// Makes tools and gates from [[tool]] and [[gate]] of the configuration.

#include "agent/tool.h"
#include "app/means.h"
#include "config/config.h"

namespace dormouse::app {

// Errors: bad_value, with the key and what is wrong with it.
[[nodiscard]] Result<void> check_tool(config::Tool const& tool);
// REQUIRES: check_tool(tool).
[[nodiscard]] agent::Tool make_tool(config::Tool const& tool, Means const& means);
// The variables that every program needs; no others of the server's.
[[nodiscard]] std::vector<std::string> base_environment();
[[nodiscard]] agent::Gate make_gate(config::Gate const& gate);

}  // namespace dormouse::app
