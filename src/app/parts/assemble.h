#pragma once
// Makes the registry of a configuration: agents with their models, tools and gates.

#include "agent/tool.h"
#include "app/parts/means.h"
#include "config/config.h"

namespace dormouse::app {

// The objects in force until now.
struct Former {
    config::Config const& config;
    agent::Registry const& registry;
};

// REQUIRES: mistakes_in(config) is empty. Models and external agents that are configured as in
// `former` (null: none) are the same objects: requests to them count together, and processes stay.
[[nodiscard]] agent::Registry assemble(config::Config const& config, ToolServices const& services,
                                       Former const* former = nullptr);

}  // namespace dormouse::app
