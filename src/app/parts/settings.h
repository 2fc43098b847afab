#pragma once
// The settings of the node and of HTTP, from the configuration.

#include "app/start/secrets.h"
#include "cli/commands/cli.h"
#include "config/config.h"
#include "external/validator.h"
#include "io/http/tls.h"
#include "runner/runner.h"
#include "serve/serving.h"

#include <dormouse/error.h>

#include <memory>

namespace dormouse::app {

[[nodiscard]] runner::Options runner_options(config::Config const& config,
                                             session::TraceRules const& tracing);
// REQUIRES: the address to listen on is valid.
[[nodiscard]] serve::ServingSettings serving_settings(cli::ServeOptions const& options,
                                                      config::Config const& config,
                                                      io::TlsServer* tls, Secrets const& secrets);
// Returns the settings that may change while the server runs.
[[nodiscard]] serve::ServingChanges serving_changes(config::Config const& config);
[[nodiscard]] external::Validators::Limits validator_limits(config::Limits const& limits);
// Reads the files, whose names are relative to the folder of the configuration. nullptr: plain
// HTTP.
[[nodiscard]] Result<std::unique_ptr<io::TlsServer>> load_tls(config::Config const& config);

}  // namespace dormouse::app
