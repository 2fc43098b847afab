#include "app/commands/programs.h"
#include "app/server.h"
#include "app/start/node_name.h"
#include "app/start/prepare.h"
#include "app/start/secrets.h"
#include "io/clock_control.h"
#include "io/process/fd_limit.h"
#include "io/process/signals.h"

#include <utility>

namespace dormouse::app {

int serve(cli::ServeOptions const& options, http::WebFiles web_files) {
    io::ignore_sigpipe();
    io::raise_fd_limit();
    auto manager = io::ServiceManager::of_environment();
    auto prepared = prepare(options);
    if (!prepared) return prepared.error();
    config::Config const& config = prepared->config;
    io::MemoryReserve reserve;  // first: what is created later may use it
    ServerServices services(config.limits);
    auto control = io::ClockControl::of_environment(services.loop, services.clock);
    if (!control) return complain(options, control.error());
    services.clock_control = *std::move(control);
    auto node = node_name(config.store, options.data);
    if (!node) return complain(options, node.error());
    auto opened = open_store(options, *prepared, *node, services.clock.now());
    if (!opened) return complain(options, opened.error());
    auto secrets = load_secrets(options.data, config, *opened);
    if (!secrets) return complain(options, secrets.error());
    if (auto kept = opened->shared ? keep_node_name(*node, options.data) : Result<void>(); !kept)
        return complain(options, kept.error());
    int const listener = prepared->socket ? prepared->socket->socket.release() : -1;
    return Server(services, reserve, manager, options, *std::move(prepared), *secrets,
                  *std::move(opened), web_files)
        .run(listener);
}

}  // namespace dormouse::app
