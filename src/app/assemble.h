#pragma once
// Configuration → registry: the agents with their models, tools and gates. What this release can
// not do is said by name.

#include "agent/tool.h"
#include "app/configuration.h"
#include "app/tools.h"

namespace dormouse::app {

[[nodiscard]] std::expected<agent::Registry, Mistakes> assemble(config::Config const& config,
                                                                Outside const& outside);

}  // namespace dormouse::app
