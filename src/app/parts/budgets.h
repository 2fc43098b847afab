#pragma once
// Budgets of the configuration, given to the agents that they limit.

#include "agent/tool.h"
#include "config/config.h"

namespace dormouse::app {

// REQUIRES: all agents are in the registry.
void set_budgets(agent::Registry& registry, config::Config const& config);

}  // namespace dormouse::app
