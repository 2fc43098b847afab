#include "runtime/stores.h"

#include "store/memory/memory_store.h"
#include "store/postgres/address.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

#include <unistd.h>

#include <array>
#include <utility>

namespace dormouse::runtime {

namespace {

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

Result<OpenedStore> open_database(StoreChoice const& choice) {
    store::PostgresOptions options;
    options.sole = !choice.shared;
    options.relaxed = choice.relaxed;
    options.node = host_name();
    options.version = choice.release;
    options.now = choice.now;
    auto opened = store::PostgresStore::open(choice.place, options);
    if (!opened) return std::unexpected(std::move(opened.error()));
    auto warnings = (*opened)->warnings();
    port::SharedStore* const shared = choice.shared ? opened->get() : nullptr;
    return OpenedStore{*std::move(opened), shared, std::move(warnings)};
}

}  // namespace

Result<OpenedStore> open_store(StoreChoice const& choice) {
    if (is_database(choice.place)) return open_database(choice);
    if (choice.place.contains("://"))
        return fail(Code::bad_value,
                    "There is no such store: name a directory, :memory: or "
                    "postgres://USER@HOST:PORT/DATABASE?schema=NAME.");
    if (choice.place == ":memory:") return OpenedStore{std::make_unique<store::MemoryStore>()};
    auto opened = store::SqliteStore::open(choice.place);
    if (!opened) return std::unexpected(std::move(opened.error()));
    return OpenedStore{*std::move(opened)};
}

bool is_database(std::string_view place) {
    return place.starts_with("postgres://") || place.starts_with("postgresql://");
}

Result<void> check_database(std::string const& url) {
    auto const address = store::postgres::parse_address(url);
    if (!address) return std::unexpected(address.error());
    return {};
}

std::string shown_place(std::string const& place) {
    if (!is_database(place)) return place;
    auto const address = store::postgres::parse_address(place);
    return address ? store::postgres::shown(*address) : "postgres";
}

}  // namespace dormouse::runtime
