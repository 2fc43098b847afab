#include "app/views.h"

#include "app/stores.h"
#include "runtime/stores.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

#include <utility>

namespace dormouse::app {

namespace {

template <class Store>
Result<std::unique_ptr<port::Store>> view(Result<std::unique_ptr<Store>> opened) {
    if (!opened) return std::unexpected(std::move(opened.error()));
    return std::unique_ptr<port::Store>(*std::move(opened));
}

}  // namespace

Result<void> check_database_flag(std::string const& url) {
    if (auto right = check_store_flag({.url = url}); !right) return right;
    if (runtime::is_database(url)) return {};
    return fail(Code::bad_value, "--store: name a postgres:// URL, or pass --data DIR");
}

Result<std::unique_ptr<port::Store>> open_view(std::string const& data,
                                               std::optional<std::string> const& store) {
    if (!store) return view(store::SqliteStore::open_view(data));
    if (auto right = check_database_flag(*store); !right)
        return std::unexpected(std::move(right.error()));
    return view(store::PostgresStore::open_view(*store));
}

}  // namespace dormouse::app
