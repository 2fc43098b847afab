#pragma once
// Makes foreign MCP servers from [[mcp]] of the configuration.

#include "agent/tool.h"
#include "config/config.h"
#include "mcp_client/requests/progress.h"
#include "mcp_client/settings.h"
#include "runner/runner.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace dormouse::app {

[[nodiscard]] std::vector<mcp_client::ServerSettings> servers_of(config::Config const& config);
// Passes what they report of calls on as progress of those calls. `runner` outlives the result.
[[nodiscard]] mcp_client::Progress::Report reports_to(runner::Runner& runner);
// The gate that asks for their tools.
[[nodiscard]] agent::Gate mcp_gate();
// The agent whose sessions make the calls of `dormouse mcp --serve`. Its prompt is the call.
[[nodiscard]] agent::Agent gateway_agent();
// Sets the tools of an agent: names, and patterns of tools of MCP servers.
void set_tools(agent::Agent& out, config::Agent const& from);
// Returns true if the agent may have a tool of this server.
[[nodiscard]] bool uses(config::Agent const& agent, config::Mcp const& server);
// Agents that run programs: the right to start their sessions gives the rights of the server's
// user.
[[nodiscard]] std::set<std::string, std::less<>> programs_of(config::Config const& config);

}  // namespace dormouse::app
