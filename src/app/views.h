#pragma once
// Stores that are only read, possibly while servers use them.

#include "port/store.h"

#include <memory>
#include <optional>
#include <string>

namespace dormouse::app {

// One view of the data for all reads. `store`: a postgres:// URL of the command line, instead of
// the data directory.
[[nodiscard]] Result<std::unique_ptr<port::Store>> open_view(
    std::string const& data, std::optional<std::string> const& store);

// Whether --store names a database as it may.
[[nodiscard]] Result<void> check_database_flag(std::string const& url);

}  // namespace dormouse::app
