#include "app/start/flags.h"

#include "app/parts/indexes.h"
#include "app/parts/stores.h"
#include "config/values.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace dormouse::app {

// "127.0.0.1:3676", "[::1]:0"
Result<ListenAddress> listen_address(std::string const& text) {
    if (auto address = parse_listen_address(text)) return *std::move(address);
    return fail(Code::bad_value,
                "--listen " + text + ": must be ADDRESS:PORT, for example 127.0.0.1:3676");
}

Result<void> apply_flags(cli::ServeOptions const& options, config::Server& server,
                         config::Store& store) {
    server.listen = options.listen.value_or(server.listen);
    if (options.store) {
        store.url = *options.store;
        store.secret_url.reset();
        if (auto right = check_store_flag(store); !right) return right;
    }
    if (!options.key_env.empty()) {
        char const* const value = std::getenv(options.key_env.c_str());
        if (!value)
            return fail(Code::bad_value,
                        "the variable " + options.key_env + " of --key-env is not set");
        store.encryption_key = config::Secret{options.key_env, value};
    }
    if (options.public_url) {
        server.public_url = *options.public_url;
        if (auto const todo = config::misfit(config::Form::url, server.public_url)) {
            return fail(Code::bad_value, "--public-url " + *options.public_url + ": " + *todo);
        }
    }
    auto const add = [](auto& list, auto const& more) {
        list.insert(list.end(), more.begin(), more.end());
    };
    if (auto right = check_indexes(options.indexes); !right) return right;
    add(store.indexes, options.indexes);
    add(server.allowed_hosts, options.allowed_hosts);
    add(server.allowed_origins, options.allowed_origins);
    return {};
}

}  // namespace dormouse::app
