#pragma once
// The tools of `dormouse mcp` itself: their names and parameters. Pure.

#include "json/json.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::mcp {

struct McpTool {
    std::string_view name;
    std::string_view description;
    std::string_view schema;
};

[[nodiscard]] std::span<McpTool const> own_mcp_tools();
// Adds the members of the tool, as MCP writes them, to an open object.
void write_mcp_tool(json::Writer& out, McpTool const& tool);
// Adds tools to a list as MCP writes it.
void write_own_mcp_tools(json::Writer& out, std::span<McpTool const> tools);
// Returns whether a tool of the server is not offered: own_mcp_tools() replace it, or it has no
// meaning outside the session.
[[nodiscard]] bool is_own_mcp_tool(std::string_view name);

// Returns a name that every MCP client accepts: letters, digits, _ and -.
[[nodiscard]] std::string mcp_name(std::string_view tool);

// Returns the schema with a member `key`; nullopt if it has one already or accepts no members.
[[nodiscard]] std::optional<Json> with_key(json::View schema);
// Returns the members of `arguments` without `key`.
[[nodiscard]] Json without_key(json::View arguments);

// Returns a page of the session's messages as text; long messages are cut.
[[nodiscard]] std::string history_words(json::View page);

// Returns why the arguments are invalid; empty: they are valid. Checks required members and types.
[[nodiscard]] std::string wrong_arguments(McpTool const& tool, json::View arguments);

}  // namespace dormouse::mcp
