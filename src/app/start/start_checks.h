#pragma once
// Checks at the start of the server, besides the configuration.

#include "agent/tool.h"
#include "base/url.h"
#include "config/config.h"
#include "port/world.h"

#include <functional>
#include <string>

namespace dormouse::app {

// Error: other machines can reach the address without TLS, or a trusted proxy is not a network.
// `insecure` permits the first.
[[nodiscard]] Result<void> refuse_open(bool insecure, config::Server const& server,
                                       ListenAddress const& address);

// Error: an external agent confined by `run_as` could still change the server's data.
[[nodiscard]] Result<void> refuse_exposed_data(config::Config const& config,
                                               std::string const& data);

// Checks the oldest sessions for agents that the registry does not have, and calls `warn` with one
// sentence if there are any. The registry outlives the journal.
void find_sessions_without_agent(port::StoreView<port::MaintenanceStore> sessions,
                                 agent::Registry const& registry,
                                 std::function<void(std::string const&)> warn);

}  // namespace dormouse::app
