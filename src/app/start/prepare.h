#pragma once
// Reads and checks all that a start of the server needs, and opens the store.

#include "app/parts/copies.h"
#include "app/parts/indexes.h"
#include "app/start/node_name.h"
#include "cli/commands/cli.h"
#include "config/config.h"
#include "io/http/tls.h"
#include "io/process/service_manager.h"
#include "runtime/stores.h"

#include <expected>
#include <memory>
#include <optional>
#include <vector>

namespace dormouse::app {

// The configuration and resources that a start has checked before it opens a store.
struct Prepared {
    config::Config config;
    std::optional<io::InheritedSocket> socket;  // of the service manager
    std::unique_ptr<io::TlsServer> tls;         // null: plain HTTP
    std::vector<IndexPlan> indexes;
    CopyPlan copies;
};

// Prints why the server does not start. Returns the exit status.
int complain(cli::ServeOptions const& options, Error const& error);

// The error is the exit status of a process that does not start; the reason was printed.
[[nodiscard]] std::expected<Prepared, int> prepare(cli::ServeOptions const& options);

// Opens the store, and the channel by which the servers that share it wake each other.
[[nodiscard]] Result<runtime::OpenedStore> open_store(cli::ServeOptions const& options,
                                                      Prepared const& prepared,
                                                      NodeName const& node, Time now);

}  // namespace dormouse::app
