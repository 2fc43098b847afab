#pragma once
// Configuration → registry: the agents with their models, tools and gates. What this release can
// not do is said by name.

#include "agent/tool.h"
#include "app/configuration.h"
#include "port/http.h"
#include "port/process.h"

namespace dormouse::app {

// What models and tools reach the world with. All outlive the registry.
struct Means {
    port::HttpClient& http;
    port::Processes& processes;
    port::Clock const& clock;
};

[[nodiscard]] std::expected<agent::Registry, Mistakes> assemble(config::Config const& config,
                                                                Means const& means);
// To look at: what is in it can not be run.
[[nodiscard]] std::expected<agent::Registry, Mistakes> try_assemble(config::Config const& config);

}  // namespace dormouse::app
