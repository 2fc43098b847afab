#pragma once
// The name of this server among those that share a database. It is the same after a restart:
// sessions whose agent's program keeps something on this machine continue under it.

#include "config/config.h"

#include <dormouse/error.h>

#include <string>

namespace dormouse::app {

struct NodeName {
    std::string text;
    bool stored = true;  // in the configuration or in the data directory
};

// `[store] node`; else as the data directory says; else a new one, of the machine's name. Changes
// nothing. Error: the file in the data directory holds no name.
[[nodiscard]] Result<NodeName> node_name(config::Store const& store, std::string const& data);
// Stores a new name in the data directory, which exists.
[[nodiscard]] Result<void> keep_node_name(NodeName const& name, std::string const& data);

}  // namespace dormouse::app
