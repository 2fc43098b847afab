#pragma once
// Options of the log from the command line.

#include "cli/commands/cli.h"
#include "io/log.h"

namespace dormouse::app {

[[nodiscard]] io::LogOptions log_options(cli::ServeOptions const& options);

}  // namespace dormouse::app
