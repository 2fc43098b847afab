#pragma once
// Adapts a tool of the public interface to the tool that sessions run.

#include <dormouse/tool.h>

#include "agent/tool.h"

namespace dormouse::tools {

// Errors: bad_value, for an invalid declaration.
[[nodiscard]] Result<agent::Tool> make_agent_tool(ToolPtr tool);

}  // namespace dormouse::tools
