#pragma once
// Makes the registry of a configuration: agents with their models, tools and gates.

#include "agent/tool.h"
#include "app/means.h"
#include "config/config.h"

namespace dormouse::app {

// REQUIRES: mistakes_in(config) is empty.
[[nodiscard]] agent::Registry assemble(config::Config const& config, Means const& means);

}  // namespace dormouse::app
