#pragma once
// The tools of `dormouse mcp` that are not the server's own: what they are called and what they
// take. Pure.

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
// The server's tools that are not offered, since own_mcp_tools() are, or since they mean nothing
// outside the session.
[[nodiscard]] bool is_own_mcp_tool(std::string_view name);

// A name that every program takes: letters, digits, _ and -.
[[nodiscard]] std::string mcp_name(std::string_view tool);

// The schema with a member `key`; nullopt when it has one of its own, or takes no members.
[[nodiscard]] std::optional<Json> with_key(json::View schema);
// The members of `arguments` without `key`.
[[nodiscard]] Json without_key(json::View arguments);

// A page of the session's messages in words, each cut where it is long.
[[nodiscard]] std::string history_words(json::View page);

// Why arguments are not what the tool takes; empty: they are. Checks what is required and types.
[[nodiscard]] std::string wrong_arguments(McpTool const& tool, json::View arguments);

}  // namespace dormouse::mcp
