#pragma once
// The result of a foreign tool's call, as a result of a tool. Pure.

#include "agent/tool.h"
#include "json/json.h"

namespace dormouse::mcp_client {

// Structured content, else the text of a result that is one text, else its content as it is. A
// result with isError is an error with its text.
[[nodiscard]] agent::ToolResult read_result(json::View result);

}  // namespace dormouse::mcp_client
