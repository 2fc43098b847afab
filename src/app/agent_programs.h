#pragma once
// [[agent]] with acp → a program that can be prompted; and those that need no entry.

#include "agent/tool.h"
#include "app/means.h"
#include "config/config.h"

namespace dormouse::app {

// What `means` refers to outlives the agent. `project`: whose sessions it serves without a wall.
[[nodiscard]] agent::Agent make_program_agent(config::Agent const& from, std::string const& folder,
                                              std::string const& project, Means const& means);
// opencode, claude and gemini, as far as they are installed; without a wall, so none of several
// projects.
[[nodiscard]] std::vector<config::Agent> installed_agents(config::Config const& config);

}  // namespace dormouse::app
