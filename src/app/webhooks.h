#pragma once
// What dormouse.toml says of webhooks, as the server and the pump take it.

#include "config/config.h"
#include "webhook/source.h"

#include <vector>

namespace dormouse::app {

// Those that have a secret.
[[nodiscard]] std::vector<webhook::Source> webhook_sources(config::Config const& config);

}  // namespace dormouse::app
