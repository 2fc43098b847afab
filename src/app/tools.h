#pragma once
// [[tool]] and [[gate]] of the configuration → what the registry holds.

#include "agent/tool.h"
#include "app/assemble.h"
#include "config/config.h"

namespace dormouse::app {

// What `means` refers to outlives the tool. Errors: bad_value, with the key and what is wrong with
// it.
[[nodiscard]] Result<agent::Tool> make_tool(config::Tool const& tool, Means const& means);
[[nodiscard]] agent::Gate make_gate(config::Gate const& gate);

}  // namespace dormouse::app
