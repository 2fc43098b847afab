#pragma once
// Checks of a configuration that was read: whether its parts can be made, what this machine lacks
// for them, and what the server would offer. Functions over values: nothing is made or started.

#include "app/start/configuration.h"

namespace dormouse::app {

// Returns the mistakes that prevent the server from starting.
[[nodiscard]] Mistakes mistakes_in(config::Config const& config);

using Warnings = std::vector<config::Problem>;

// Warnings of the file, and those that depend on this machine, in the order of lines. `data`: the
// data directory.
[[nodiscard]] Warnings warnings_of(config::Config const& config, std::string const& data);

struct OfferedAgent {
    std::string id;
    std::vector<std::string> tools;
};
struct Offer {
    std::vector<OfferedAgent> agents;
    std::vector<std::string> tools;  // of the configuration, and built-in ones that an agent has
};
[[nodiscard]] Offer offer_of(config::Config const& config);

}  // namespace dormouse::app
