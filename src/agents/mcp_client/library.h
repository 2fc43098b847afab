#pragma once
// Resources and prompts of a server, as tools: lists and reads them. Pure.

#include "agent/tool.h"
#include "json/json.h"
#include "mcp_client/abilities.h"
#include "mcp_client/tool_list.h"

#include <string_view>
#include <vector>

namespace dormouse::mcp_client {

// The tools for what the server has. Their names are the methods of the protocol, and a call's
// input is the method's parameters.
[[nodiscard]] std::vector<ForeignTool> library_tools(Abilities const& abilities);
// Returns true if the name is one of theirs; no tool of a server is offered under it.
[[nodiscard]] bool is_library_tool(std::string_view name);
// The result of such a method, without what is for the protocol alone.
[[nodiscard]] agent::ToolResult read_library_result(std::string_view method, json::View result);

}  // namespace dormouse::mcp_client
