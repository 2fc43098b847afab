#pragma once
// Adapts a tool of the public interface to the tool that sessions run.

#include <dormouse/tool.h>

#include "agent/tool.h"

namespace dormouse::tools {

// Errors: bad_value, for an invalid declaration.
[[nodiscard]] Result<agent::Tool> make_agent_tool(ToolPtr tool);

// The terms of a pause with these options, for people or a job outside. `reason` and
// `continuation` are not set.
[[nodiscard]] session::PauseTerms pause_terms(PauseOptions options);

}  // namespace dormouse::tools
