#pragma once
// Makes tools and gates from [[tool]] and [[gate]] of the configuration.

#include "agent/tool.h"
#include "app/parts/means.h"
#include "config/config.h"

namespace dormouse::app {

// Errors: bad_value, with the key and what is wrong with it.
[[nodiscard]] Result<void> check_tool(config::Tool const& tool);
// REQUIRES: check_tool(tool).
[[nodiscard]] agent::Tool make_tool(config::Tool const& tool, ToolServices const& services);
// The variables that every program needs; no others of the server's.
[[nodiscard]] std::vector<std::string> base_environment();
// These and what the configuration allows, in particular never DORMOUSE_TOKEN.
[[nodiscard]] std::vector<std::string> environment_of(std::vector<std::string> const& env_allow);
[[nodiscard]] agent::Gate make_gate(config::Gate const& gate);

}  // namespace dormouse::app
