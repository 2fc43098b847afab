#pragma once
// Configuration → registry: the agents with their models, tools and gates. What this release can
// not do is said by name.

#include "agent/tool.h"
#include "app/configuration.h"
#include "app/means.h"

namespace dormouse::app {

[[nodiscard]] std::expected<agent::Registry, Mistakes> assemble(config::Config const& config,
                                                                Means const& means);
// To look at: what is in it can not be run.
[[nodiscard]] std::expected<agent::Registry, Mistakes> try_assemble(config::Config const& config);

}  // namespace dormouse::app
