#pragma once
// The programs that work on a data directory or a configuration themselves. Each returns the exit
// status of the process.

#include "cli/commands/cli.h"

namespace dormouse::app {

[[nodiscard]] int serve(cli::ServeOptions const& options);
[[nodiscard]] int verify(cli::VerifyOptions const& options);
[[nodiscard]] int config(cli::ConfigOptions const& options);

}  // namespace dormouse::app
