#pragma once
// [[agent]] with acp → a program that can be prompted; and those that need no entry.

#include "agent/tool.h"
#include "app/means.h"
#include "config/config.h"

namespace dormouse::app {

// What `means` refers to outlives the agent.
[[nodiscard]] agent::Agent make_program_agent(config::Agent const& from, std::string const& folder,
                                              Means const& means);
// opencode, claude and gemini, as far as they are installed.
[[nodiscard]] std::vector<config::Agent> installed_agents();

}  // namespace dormouse::app
