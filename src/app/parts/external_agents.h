#pragma once
// Makes external agents: those of [[agent]] with acp, and installed ones that need no entry.

#include "agent/tool.h"
#include "app/parts/means.h"
#include "config/config.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::app {

// Shared by all agents of one configuration.
struct ExternalContext {
    std::string folder;              // the file's, or the current one
    std::string project;             // whose sessions an agent without a sandbox serves
    std::vector<std::string> roots;  // of all agents: where other sessions may work
    std::string gate;  // the first one for permissions of external agents; empty: none
    friend bool operator==(ExternalContext const&, ExternalContext const&) = default;
};
[[nodiscard]] ExternalContext external_context(config::Config const& config);

// Everything in `services` outlives the agent.
[[nodiscard]] agent::Agent make_external_agent(config::Agent const& from,
                                               ExternalContext const& around,
                                               ToolServices const& services);
// The same with a program that runs already.
[[nodiscard]] agent::Agent external_agent(config::Agent const& from,
                                          std::shared_ptr<agent::ExternalAgent> external);
// Why sessions that name no folder cannot be prompted; empty: they can. `data`: the data directory.
[[nodiscard]] std::string folder_problem(config::ExternalAgent const& external,
                                         std::string const& folder, std::string const& data);
// Why its program cannot be started; empty: it exists and is executable.
[[nodiscard]] std::string external_problem(config::ExternalAgent const& external);
// opencode, claude and gemini, if installed. They have no sandbox, so there are none if there are
// several projects; nor if other servers may share the database, which may not have them.
[[nodiscard]] std::vector<config::Agent> installed_agents(config::Config const& config);

// Returns true if this session mode of a known agent skips permission requests that it makes in its
// default mode.
[[nodiscard]] bool asks_nobody(std::string_view mode);
// The first [[gate]] for permissions of external agents; nullptr: none.
[[nodiscard]] config::Gate const* gate_of_external_agents(config::Config const& config);

}  // namespace dormouse::app
