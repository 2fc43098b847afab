#pragma once
// The store that the configuration and the command line name.

#include "config/config.h"
#include "port/shared_store.h"
#include "store/sealed/master_keys.h"

#include <dormouse/error.h>

#include <optional>
#include <string>

namespace dormouse::app {

// Checks that the store can be opened as it is named.
[[nodiscard]] Result<void> check_store(config::Store const& store);
// The same for --store. It contains no password, because other users of the machine can read it.
[[nodiscard]] Result<void> check_store_flag(config::Store const& store);

[[nodiscard]] bool in_memory(config::Store const& store);
// For runtime::open_store. May contain a password.
[[nodiscard]] std::string store_place(config::Store const& store, std::string const& data);
// Returns true if other servers may use the database at the same time. Returns false if an external
// agent stores data on this machine: its sessions could not continue on another one.
[[nodiscard]] bool shares_store(config::Config const& config);
// Returns the signal that the database itself provides; see also app/parts/channel.h.
[[nodiscard]] port::Signal store_signal(config::Store const& store);
// Returns the digest, in hex, of the names that all servers with the same store must know.
[[nodiscard]] std::string names_digest(config::Config const& config);

// Returns the keys that encrypt contents; nullopt if they are not encrypted. No error has a key.
[[nodiscard]] Result<std::optional<store::MasterKeys>> master_keys(config::Store const& store);
// Reads the keys from the variable that --key-env of a command names; nullopt if it names none.
[[nodiscard]] Result<std::optional<store::MasterKeys>> master_keys(std::string const& variable);

// Returns the name for people and logs: "sqlite", "memory", or the database without credentials.
[[nodiscard]] std::string store_name(config::Store const& store);

}  // namespace dormouse::app
