#pragma once
// The tools of a client that has no session: they ask people. Pure.

#include "json/json.h"
#include "mcp/api.h"

#include <string>
#include <string_view>

namespace dormouse::mcp {

// Adds them to a list of tools.
void write_open_tools(json::Writer& out);
[[nodiscard]] bool is_open_tool(std::string_view name);

// REQUIRES: is_open_tool(name). `approve` and `ask_human` with `wait` are answered when the call is
// settled; a client that withdraws `approve` cancels its call. `project`: of new calls; empty: the
// only one of the token.
void call_open_tool(ApiPtr const& api, std::string const& project, std::string_view name,
                    Json const& arguments, TicketPtr const& ticket, ToolDone done);

}  // namespace dormouse::mcp
