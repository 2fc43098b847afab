#include "store/sqlite/snapshot.h"

#include "store/sqlite/schema/schema.h"

#include <array>

namespace dormouse::store::sqlite {

namespace {

// The table sqlite_dbpage yields the pages in their order.
constexpr std::array<char const*, 1> all_pages{"SELECT data FROM sqlite_dbpage('main')"};
constexpr int cache_kib = 1024;  // no page is read twice
constexpr int busy_timeout_ms = 10'000;

}  // namespace

std::size_t newest_format() { return migrations().size(); }

Result<std::unique_ptr<Snapshot>> Snapshot::open(std::filesystem::path const& directory) {
    auto const file = directory / "dormouse.db";
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        return fail(Code::not_found, "dormouse.db not found in " + directory.string() +
                                         ": set --data DIR. A PostgreSQL database is backed up "
                                         "with pg_dump");
    auto connection = Connection::open(
        file, {.cache_kib = cache_kib, .busy_timeout_ms = busy_timeout_ms, .vfs = {}});
    if (!connection) return std::unexpected(std::move(connection.error()));
    std::unique_ptr<Snapshot> out(new Snapshot(*std::move(connection)));
    if (auto begun = out->begin(); !begun) return std::unexpected(std::move(begun.error()));
    return out;
}

Result<void> Snapshot::begin() {
    if (auto set = connection_.run("PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0; BEGIN");
        !set)
        return set;
    auto const format = version_of(connection_);  // the first read: the state is this moment's
    if (!format) return std::unexpected(format.error());
    if (*format == 0) return fail(Code::not_found, "dormouse.db is empty: nothing to back up");
    format_ = *format;
    auto const epoch = connection_.integer("SELECT value FROM meta WHERE name = 'epoch'");
    if (!epoch) return std::unexpected(epoch.error());
    epoch_ = static_cast<std::uint64_t>(*epoch);
    // Absent in the oldest formats.
    if (auto const feed = connection_.integer("SELECT max(n) FROM feed"))
        feed_ = static_cast<std::uint64_t>(*feed);
    if (auto ready = connection_.prepare(all_pages); !ready) {
        if (!ready.error().detail.contains("no such table")) return ready;
        return fail(Code::wrong_state,
                    "this build uses an SQLite without SQLITE_ENABLE_DBPAGE_VTAB: stop the server "
                    "and copy the whole directory");
    }
    pages_.reset(new Query(connection_.query(0)));
    return {};
}

Result<std::optional<std::string_view>> Snapshot::next() {
    auto const more = pages_->next();
    if (!more) return std::unexpected(more.error());
    if (!*more) return std::nullopt;
    return pages_->text(0);
}

}  // namespace dormouse::store::sqlite
