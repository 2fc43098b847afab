#pragma once
// Options of `dormouse serve` that override the configuration.

#include "base/url.h"
#include "cli/commands/cli.h"
#include "config/config.h"

#include <dormouse/error.h>

#include <string>

namespace dormouse::app {

[[nodiscard]] Result<ListenAddress> listen_address(std::string const& text);
// They override values of the file; lists are appended.
[[nodiscard]] Result<void> apply_flags(cli::ServeOptions const& options, config::Server& server,
                                       config::Store& store);

}  // namespace dormouse::app
