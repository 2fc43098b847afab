#pragma once
// The two programs that work on a data directory themselves. Each returns the exit status of the
// process.

#include "cli/cli.h"

namespace dormouse::app {

[[nodiscard]] int serve(cli::ServeOptions const& options);
[[nodiscard]] int verify(cli::VerifyOptions const& options);

}  // namespace dormouse::app
