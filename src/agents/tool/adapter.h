#pragma once
// A tool of the public interface as the tool that sessions run.

#include <dormouse/tool.h>

#include "agent/tool.h"

namespace dormouse::tools {

// Errors: bad_value, for a declaration that is wrong.
[[nodiscard]] Result<agent::Tool> make_agent_tool(ToolPtr tool);

}  // namespace dormouse::tools
