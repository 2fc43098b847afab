#include "app/commands/views.h"

#include "app/release.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

#include <filesystem>

namespace dormouse::app {

Result<void> check_database_flag(std::string const& url) {
    if (auto right = check_store_flag({.url = url}); !right) return right;
    if (runtime::is_database(url)) return {};
    return fail(Code::bad_value, "--store: name a postgres:// URL, or pass --data DIR");
}

Result<PlainStore> open_view(std::string const& data, std::optional<std::string> const& store,
                             std::string const& key_env) {
    if (!store) return decrypted(store::SqliteStore::open_view(data), key_env);
    if (auto right = check_database_flag(*store); !right)
        return std::unexpected(std::move(right.error()));
    return decrypted(store::PostgresStore::open_view(*store), key_env);
}

Result<PlainStore> open_alone(std::string const& data, std::optional<std::string> const& store,
                              std::string const& key_env, std::string const& command) {
    if (!store) {
        if (!std::filesystem::exists(std::filesystem::path(data) / "dormouse.db"))
            return fail(Code::not_found, data + ": holds no dormouse.db");
        return decrypted(store::SqliteStore::open(data), key_env);
    }
    if (auto right = check_database_flag(*store); !right)
        return std::unexpected(std::move(right.error()));
    store::PostgresOptions how;
    how.sole = true;
    how.relaxed = true;  // a server reports it at its start
    how.node = command;
    how.version = release();
    return decrypted(store::PostgresStore::open(*store, how), key_env);
}

Result<PlainStore> open_view_of(std::string const& place,
                                std::optional<store::MasterKeys> const& masters) {
    return runtime::is_database(place)
               ? readable_view(store::PostgresStore::open_view(place), masters)
               : readable_view(store::SqliteStore::open_view(place), masters);
}

}  // namespace dormouse::app
