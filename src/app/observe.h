#pragma once
// What of the command line and of the agents concerns log and metrics.

#include "agent/model_requests.h"
#include "cli/cli.h"
#include "io/log.h"
#include "server/metrics.h"

namespace dormouse::app {

[[nodiscard]] io::LogOptions log_options(cli::ServeOptions const& options);

// Of each model once, by the name that lists show; models of one name are one.
[[nodiscard]] std::vector<server::Metrics::ModelLoad> model_loads(
    agent::Registry const& registry, agent::ModelRequests const& requests);

}  // namespace dormouse::app
