#pragma once
// Peculiarities of single products, as data. A new product needs a row here and no code.
// Example: Gemini CLI asks for the tool "deploy" of our MCP server "dormouse" with the title
// "deploy (dormouse MCP Server)" and an option with the id proceed_always_server.

#include <algorithm>
#include <array>
#include <string_view>

namespace dormouse::acp {

// Found by the name that the product reports in agentInfo.name.
struct ProductQuirks {
    std::string_view name_prefix;
    bool load_loses_data = false;  // session/load rewrites the stored session
};
inline constexpr std::array product_quirks{
    ProductQuirks{.name_prefix = "gemini", .load_loses_data = true},  // Gemini CLI
};
[[nodiscard]] constexpr ProductQuirks quirks_of(std::string_view product) {
    auto const* const found = std::ranges::find_if(product_quirks, [&](ProductQuirks const& row) {
        return product.starts_with(row.name_prefix);
    });
    return found == product_quirks.end() ? ProductQuirks{} : *found;
}

// Where a tool call holds the product's own name of the tool, as JSON pointers.
inline constexpr std::string_view claude_tool_name = "/_meta/claudeCode/toolName";
inline constexpr std::array<std::string_view, 2> tool_name_pointers{"/name", claude_tool_name};

// Members of a tool call's input that differ each time the same call is made. They are left out if
// `call_id_member` holds the id of the tool call; otherwise they are arguments of the tool.
inline constexpr std::string_view call_id_member = "call_id";  // Codex
inline constexpr std::array<std::string_view, 4> passing_input_members{
    call_id_member,
    "approval_id",
    "turn_id",
    "started_at_ms",
};

// The form of a product's names for tools of MCP servers.
struct McpToolForm {
    std::string_view before_server, after_server;
};
inline constexpr McpToolForm mcp_tool_name{"mcp__", "__"};  // Claude Code: mcp__SERVER__TOOL
inline constexpr McpToolForm mcp_tool_title{" (",
                                            " MCP Server)"};  // Gemini: TOOL (SERVER MCP Server)
// Models write titles too. Such a title therefore counts only together with an option of this id,
// which Gemini offers only for tools of MCP servers.
inline constexpr std::string_view mcp_option_id = "proceed_always_server";

}  // namespace dormouse::acp
