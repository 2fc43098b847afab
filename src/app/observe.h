#pragma once
// What of the command line concerns the log.

#include "cli/commands/cli.h"
#include "io/log.h"

namespace dormouse::app {

[[nodiscard]] io::LogOptions log_options(cli::ServeOptions const& options);

}  // namespace dormouse::app
