#pragma once
// Reloads the configuration of a running server: reads and checks it on another thread, compares it
// with the one in force, and has it applied on the loop.

#include "app/start/configuration.h"
#include "base/scope.h"
#include "cli/commands/cli.h"
#include "config/config.h"
#include "http/resources/operations/reload.h"
#include "io/log.h"
#include "port/effects.h"

#include <dormouse/error.h>

#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace dormouse::app {

// Reads the configuration with the options of the command line, and finds all of its mistakes.
// `inherited`: the address of a socket that the service manager opened; empty: none. Blocks; on any
// thread.
[[nodiscard]] std::expected<config::Config, Mistakes> read_again(cli::ServeOptions const& options,
                                                                 std::string const& inherited);

// Why a configuration is not applied: bad_value with the `mistakes`.
[[nodiscard]] Error mistaken(Mistakes const& mistakes);
// Returns the changes that are applied, and those that need a restart.
[[nodiscard]] http::ReloadReport compare(config::Config const& in_force,
                                         config::Config const& next);
// One line for each change, or each mistake.
void log_reload(io::Log& log, Result<http::ReloadReport> const& report);

// On the loop.
class Reloads {
public:
    using Read = std::expected<config::Config, Mistakes>;
    using Done = port::Fn<void(Result<http::ReloadReport>)>;
    // Maximum number of reloads that wait for the one under way.
    static constexpr std::size_t waiting_max = 100;

    // `workers` outlives this, and has stopped before it ends.
    // `read`: on a worker. `refusal`: why nothing can be reloaded now; empty: it can. `apply`: puts
    // what read() returned into force, or refuses it.
    struct Parts {
        port::Workers& workers;
        std::function<Read()> read;
        std::function<Result<void>()> refusal;
        std::function<Result<http::ReloadReport>(config::Config const&)> apply;
    };
    explicit Reloads(Parts parts) : parts_(std::move(parts)) {}

    // Calls `done` once. Requests that come during a reload are answered by the next one, which
    // sees what they have written. Errors: draining, recovering, overloaded; bad_value with all
    // `mistakes`: then nothing has changed.
    void reload(Done done);

private:
    void begin();
    void finish(Result<Read> read);
    [[nodiscard]] Result<http::ReloadReport> report_on(Result<Read> read);

    Parts parts_;
    std::vector<Done> waiting_;  // for the next one
    std::vector<Done> asking_;   // for the one that is under way
    Scope scope_;
};

}  // namespace dormouse::app
