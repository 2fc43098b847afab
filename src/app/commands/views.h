#pragma once
// Stores that commands work on themselves, possibly while servers use them.

#include "app/parts/stores.h"
#include "port/store.h"
#include "runtime/stores.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dormouse::app {

// A store as one with plain contents.
struct PlainStore {
    std::shared_ptr<port::Store> store;
    bool encrypted = false;  // what it stores
};

// `masters`: nullopt: an encrypted store is refused.
template <class Store>
Result<PlainStore> readable_view(Result<std::unique_ptr<Store>> opened,
                                 std::optional<store::MasterKeys> const& masters) {
    if (!opened) return std::unexpected(std::move(opened.error()));
    std::shared_ptr<Store> const store = *std::move(opened);
    auto const keys = store->data_keys();
    if (!keys) return std::unexpected(keys.error());
    auto readable = runtime::readable(store, *store, masters);
    if (!readable) return std::unexpected(std::move(readable.error()));
    return PlainStore{*std::move(readable), !keys->empty()};
}

// `key_env`: the variable with the keys of an encrypted
// store; empty: none, and an encrypted store is refused.
template <class Store>
Result<PlainStore> decrypted(Result<std::unique_ptr<Store>> opened, std::string const& key_env) {
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto const masters = master_keys(key_env);
    if (!masters) return std::unexpected(masters.error());
    return readable_view(std::move(opened), *masters);
}

// A view of the store in which a server keeps its sessions (store_place()).
[[nodiscard]] Result<PlainStore> open_view_of(std::string const& place,
                                              std::optional<store::MasterKeys> const& masters);
// One view of the data for all reads. `store`: a postgres:// URL of the command line, instead of
// the data directory. `key_env`: as in decrypted().
[[nodiscard]] Result<PlainStore> open_view(std::string const& data,
                                           std::optional<std::string> const& store,
                                           std::string const& key_env);

// The store for this process alone, to write to. Errors: wrong_state: another process uses it;
// not_found: the data directory holds no store.
[[nodiscard]] Result<PlainStore> open_alone(std::string const& data,
                                            std::optional<std::string> const& store,
                                            std::string const& key_env, std::string const& command);

// Checks that --store names a database in an accepted form.
[[nodiscard]] Result<void> check_database_flag(std::string const& url);

}  // namespace dormouse::app
