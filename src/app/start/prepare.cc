#include "app/start/prepare.h"

#include "app/parts/channel.h"
#include "app/parts/settings.h"
#include "app/parts/stores.h"
#include "app/parts/telemetry.h"
#include "app/release.h"
#include "app/start/complain.h"
#include "app/start/config_checks.h"
#include "app/start/flags.h"
#include "app/start/secrets.h"
#include "app/start/start_checks.h"

#include <utility>

namespace dormouse::app {

int complain(cli::ServeOptions const& options, Error const& error) {
    return app::complain({"serve", options.json}, error);
}

namespace {

int complain_of(cli::ServeOptions const& options, Mistakes const& mistakes) {
    return app::complain({"serve", options.json},
                         {Code::bad_value, "nothing was started: correct " + options.config +
                                               " (dormouse config check), or pass --no-config"},
                         mistakes);
}

using Refused = std::unexpected<int>;

template <class Value>
Refused refused(cli::ServeOptions const& options, Result<Value> const& wrong) {
    return Refused(complain(options, wrong.error()));
}

// Fails if this configuration must not be served at its address.
Result<void> check_address(cli::ServeOptions const& options, config::Config const& config) {
    auto const address = listen_address(config.server.listen);
    if (!address) return std::unexpected(address.error());
    if (auto open = refuse_open(options.insecure, config.server, *address); !open) return open;
    return refuse_exposed_data(config, options.data);
}

// Reads the configuration and the flags.
std::expected<config::Config, int> read_config(cli::ServeOptions const& options,
                                               std::optional<io::InheritedSocket> const& socket) {
    auto config = first_config(options.config);
    if (!config) return Refused(complain_of(options, config.error()));
    if (auto applied = apply_flags(options, config->server, config->store); !applied)
        return refused(options, applied);
    // Before the checks of an address that other machines reach.
    if (socket) config->server.listen = socket->address;
    return *std::move(config);
}

}  // namespace

std::expected<Prepared, int> prepare(cli::ServeOptions const& options) {
    auto socket = io::inherited_socket();
    if (!socket) return refused(options, socket);
    if (auto taken = io::take_credentials(); !taken) return refused(options, taken);
    auto config = read_config(options, *socket);
    if (!config) return Refused(config.error());
    if (auto safe = check_address(options, *config); !safe) return refused(options, safe);
    auto tls = load_tls(*config);
    if (!tls) return refused(options, tls);
    if (auto const mistakes = mistakes_in(*config); !mistakes.empty())
        return Refused(complain_of(options, mistakes));
    if (auto traces = check_telemetry(*config); !traces) return refused(options, traces);
    auto indexes = make_indexes(config->store, options.data);
    if (!indexes) return refused(options, indexes);
    auto copies = plan_copies(*config, options.data);
    if (!copies) return refused(options, copies);
    return Prepared{*std::move(config), *std::move(socket), *std::move(tls), *std::move(indexes),
                    *std::move(copies)};
}

// Opens the store, and the channel by which the servers that share it wake each other.
Result<runtime::OpenedStore> open_store(cli::ServeOptions const& options, Prepared const& prepared,
                                        NodeName const& node, Time now) {
    config::Config const& config = prepared.config;
    auto keys = master_keys(config.store);
    if (!keys) return std::unexpected(keys.error());
    auto opened = runtime::open_store({.place = store_place(config.store, options.data),
                                       .release = release(),
                                       .relaxed = options.relaxed,
                                       .now = now,
                                       .shared = shares_store(config),
                                       .signal = store_signal(config.store),
                                       .config = names_digest(config),
                                       .changes = prepared.copies.changes,
                                       .node = node.text,
                                       .keys = *std::move(keys)});
    if (!opened) return opened;
    if (auto added = add_channel(config.store, *opened); !added)
        return std::unexpected(added.error());
    return opened;
}

}  // namespace dormouse::app
