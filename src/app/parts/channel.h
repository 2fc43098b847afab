#pragma once
// The channel for messages between servers on one database, if it is not the database:
// signal = "redis".

#include "config/config.h"
#include "runtime/stores.h"

#include <dormouse/error.h>

namespace dormouse::app {

// Checks that [store] names a Redis server if it needs one. No error contains a password.
[[nodiscard]] Result<void> check_channel(config::Store const& store);
// Gives the store such a channel, if it is shared. Waits for no Redis server.
[[nodiscard]] Result<void> add_channel(config::Store const& store, runtime::OpenedStore& opened);

}  // namespace dormouse::app
