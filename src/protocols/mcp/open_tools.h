#pragma once
// The tools of a client that has no session: they ask people. Pure.

#include "json/json.h"
#include "mcp/api.h"
#include "mcp/elicitation.h"

#include <string>
#include <string_view>

namespace dormouse::mcp {

// Adds them to a list of tools. `tasks`: each says whether its calls may be tasks (2025-11-25).
void write_open_tools(json::Writer& out, bool tasks);
[[nodiscard]] bool is_open_tool(std::string_view name);

// Returns why the arguments are invalid; empty: they are valid. REQUIRES: is_open_tool(name).
[[nodiscard]] std::string wrong_open_arguments(std::string_view name, json::View arguments);

// REQUIRES: is_open_tool(name). `approve` and `ask_human` with `wait` are answered when the call is
// settled; a client that withdraws `approve` cancels its call. `project`: of new calls; empty: the
// only one of the token. While it waits, the client may ask its user, too.
void call_open_tool(ApiPtr const& api, std::string const& project, std::string_view name,
                    Json const& arguments, Elicits const& elicits, TicketPtr const& ticket,
                    ToolDone done);

}  // namespace dormouse::mcp
