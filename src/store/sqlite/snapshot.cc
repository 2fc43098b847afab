#include "store/sqlite/snapshot.h"

#include "store/sqlite/schema/schema.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace dormouse::store::sqlite {

namespace {

constexpr std::array<char const*, 1> logged_page{
    "SELECT data FROM sqlite_dbpage('main') WHERE pgno=?"};
// https://sqlite.org/walformat.html
constexpr std::int64_t wal_head_bytes = 32, wal_frame_head_bytes = 24;
constexpr std::size_t wal_page_size_at = 8;
// SQLite never writes the page at this offset, and returns zeros (fileformat2.html, 1.5).
constexpr std::uint32_t lock_page_at = 0x4000'0000;
constexpr std::size_t read_bytes = 65'536;  // at once; SQLite reads less than 128 KiB
constexpr int cache_kib = 1024;             // no page is read twice
constexpr int busy_timeout_ms = 10'000;

// The big-endian number at `at` of the bytes.
std::uint32_t number_in(std::span<std::uint8_t const> bytes, std::size_t at) {
    std::uint32_t out = 0;
    for (std::uint8_t const byte : bytes.subspan(at, 4)) out = out << 8U | byte;
    return out;
}

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
    return begin_pages();
}

Result<void> Snapshot::begin_pages() {
    if (auto ready = connection_.prepare(logged_page); !ready) {
        if (!ready.error().detail.contains("no such table")) return ready;
        return fail(Code::wrong_state,
                    "this build uses an SQLite without SQLITE_ENABLE_DBPAGE_VTAB: stop the server "
                    "and copy the whole directory");
    }
    auto const bytes = connection_.integer("PRAGMA page_size");
    auto const count = connection_.integer("PRAGMA page_count");
    for (auto const* const each : {&bytes, &count})
        if (!*each) return std::unexpected(each->error());
    page_bytes_ = static_cast<std::uint32_t>(*bytes);
    page_count_ = static_cast<std::uint32_t>(*count);
    note_logged();
    return {};
}

sqlite3_file* Snapshot::file_of(int which) const {
    sqlite3_file* out = nullptr;
    bool const known = sqlite3_file_control(connection_.handle(), "main", which,
                                            static_cast<void*>(&out)) == SQLITE_OK;
    return known && out != nullptr && out->pMethods != nullptr ? out : nullptr;
}

// Pages can be noted too many: frames that are newer than the state or left from before, also while
// another program begins the log again, which it can only do if this transaction reads none of it.
void Snapshot::note_logged() {
    auto const mode = connection_.text("PRAGMA journal_mode");
    auto* const log = file_of(SQLITE_FCNTL_JOURNAL_POINTER);
    sqlite3_int64 bytes = 0;
    if (!mode || *mode != "wal" || log == nullptr ||
        log->pMethods->xFileSize(log, &bytes) != SQLITE_OK)
        return;
    std::array<std::uint8_t, wal_head_bytes> head{};
    if (bytes >= wal_head_bytes &&
        (log->pMethods->xRead(log, head.data(), head.size(), 0) != SQLITE_OK ||
         number_in(head, wal_page_size_at) != page_bytes_))
        return;
    logged_.add(lock_page_at / page_bytes_ + 1);
    for (auto at = wal_head_bytes; at + wal_frame_head_bytes <= bytes;
         at += wal_frame_head_bytes + page_bytes_) {
        if (log->pMethods->xRead(log, head.data(), wal_frame_head_bytes, at) != SQLITE_OK) return;
        if (auto const page = number_in(head, 0); page <= page_count_) logged_.add(page);
    }
    file_ = file_of(SQLITE_FCNTL_FILE_POINTER);
}

Result<std::size_t> Snapshot::read(std::span<char> to) {
    std::size_t used = 0;
    while (next_ <= page_count_ && to.size() - used >= page_bytes_) {
        std::size_t pages = unlogged((to.size() - used) / page_bytes_);
        if (pages == 0 || !read_file(to.subspan(used, pages * page_bytes_))) {
            pages = 1;
            if (auto done = read_page(to.subspan(used, page_bytes_)); !done)
                return std::unexpected(std::move(done.error()));
        }
        used += pages * page_bytes_;
        next_ += static_cast<std::uint32_t>(pages);
    }
    return used;
}

// Returns how many pages from `next_` on the log does not have; at most `most`, and as many as are
// read at once.
std::size_t Snapshot::unlogged(std::size_t most) const {
    most = std::min({most, read_bytes / page_bytes_, std::size_t{page_count_} + 1 - next_});
    std::size_t out = 0;
    while (out < most && !logged_.has(next_ + static_cast<std::uint32_t>(out))) ++out;
    return out;
}

// False: SQLite must read them. It fills what the file lacks at its end, and names what failed.
bool Snapshot::read_file(std::span<char> to) const {
    auto const at = (std::int64_t{next_} - 1) * page_bytes_;
    return file_ != nullptr &&
           file_->pMethods->xRead(file_, to.data(), static_cast<int>(to.size()), at) == SQLITE_OK;
}

Result<void> Snapshot::read_page(std::span<char> to) {
    auto query = connection_.query(0);
    query.bind(std::int64_t{next_});
    auto const found = query.next();
    if (!found) return std::unexpected(found.error());
    if (!*found || query.text(0).size() != to.size())
        return fail(Code::internal,
                    "dormouse.db: page " + std::to_string(next_) + " cannot be read");
    std::ranges::copy(query.text(0), to.begin());
    return {};
}

}  // namespace dormouse::store::sqlite
