#pragma once
// What the server looks at when it starts, besides its configuration.

#include "agent/tool.h"
#include "base/url.h"
#include "config/config.h"
#include "port/world.h"

#include <functional>
#include <string>

namespace dormouse::app {

// Error: other machines can reach the address without TLS, or a trusted proxy is no network.
// `insecure`: the command line permits the first.
[[nodiscard]] Result<void> refuse_open(bool insecure, config::Server const& server,
                                       ListenAddress const& address);

// Error: an agent's program, confined by `run_as`, could change the server's data all the same.
[[nodiscard]] Result<void> refuse_exposed_data(config::Config const& config,
                                               std::string const& data);

// Looks among the oldest sessions for those whose agents are not in the registry any more, and
// reports one sentence if there are some. The registry outlives the journal.
void look_for_forgotten(port::Part<port::MaintenanceStore> sessions,
                        agent::Registry const& registry,
                        std::function<void(std::string const&)> tell);

}  // namespace dormouse::app
