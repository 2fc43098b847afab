#pragma once
// What dormouse.toml says of webhooks, as the server and the pump take it.

#include "config/config.h"
#include "webhook/pump.h"
#include "webhook/source.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::app {

// What is sent out. `page` tells where people find a pending call.
[[nodiscard]] webhook::Pump::Options webhook_options(
    config::Config const& config, std::function<std::string(PendingId const&)> page);
// Those that have a secret.
[[nodiscard]] std::vector<webhook::Source> webhook_sources(config::Config const& config);

}  // namespace dormouse::app
