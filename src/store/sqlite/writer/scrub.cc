#include "store/sqlite/writer/scrub.h"

#include "store/sqlite/writer/unused_space.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <tuple>
#include <utility>

namespace dormouse::store::sqlite {

namespace {

using std::chrono::steady_clock;

constexpr int scrub_cache_kib = 1024;
constexpr int scrub_wait_ms = 2'000;
constexpr std::size_t step_pages = 1'024;
constexpr auto hold_max = std::chrono::milliseconds(10);
constexpr std::size_t first_head = 100;                // bytes of the file before the first page's
constexpr std::size_t reserved_at = 20, list_at = 32;  // in them
constexpr std::size_t entry_bytes = 5;
constexpr std::uint32_t lock_byte = 0x4000'0000;  // its page is never used

constexpr std::array<char const*, 2> page_statements{
    "SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?1",
    "UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1"};

std::size_t head_of(std::uint32_t page) { return page == 1 ? first_head : 0; }

std::unexpected<Error> unreadable(std::uint32_t page) {
    return fail(Code::internal, "dormouse.db: page " + std::to_string(page) + " cannot be read");
}

}  // namespace

Result<std::unique_ptr<Scrub>> Scrub::open(std::filesystem::path const& directory) {
    auto connection = Connection::open(
        directory / "dormouse.db",
        {.cache_kib = scrub_cache_kib, .busy_timeout_ms = scrub_wait_ms, .vfs = {}});
    if (!connection) return std::unexpected(std::move(connection.error()));
    // Otherwise pages cannot be written.
    sqlite3_db_config(connection->handle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
    auto set = connection->run("PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=FULL");
    if (set) set = connection->prepare(page_statements);
    if (!set) return std::unexpected(std::move(set.error()));
    auto const mapped = connection->integer("PRAGMA auto_vacuum");
    auto const page_bytes = connection->integer("PRAGMA page_size");
    for (auto const* const each : {&mapped, &page_bytes})
        if (!*each) return std::unexpected(each->error());
    std::unique_ptr<Scrub> out(new Scrub(*std::move(connection)));
    out->page_bytes_ = static_cast<std::uint32_t>(*page_bytes);
    auto const first = out->read(1);
    if (!first) return std::unexpected(first.error());
    if (*mapped == 0 || (*first)[reserved_at] != 0)
        return fail(Code::wrong_state, "dormouse.db has no map of its pages: compact makes it");
    if (auto opened = out->changes_.open(directory); !opened)
        return std::unexpected(std::move(opened.error()));
    return out;
}

void Scrub::repeat() {
    changes_.change_all();
    next_page_ = 1;
}

Result<bool> Scrub::step() {
    auto done = connection_.run("BEGIN IMMEDIATE");
    if (!done) return std::unexpected(std::move(done.error()));
    auto ended = scrub_some();
    if (ended) {
        done = connection_.run("COMMIT");
        if (done) return ended;
        if ((sqlite3_extended_errcode(connection_.handle()) & 0xff) == SQLITE_IOERR)
            done.error().code = Code::fail_stop;
        ended = std::unexpected(std::move(done.error()));
    }
    if (connection_.in_transaction()) std::ignore = connection_.run("ROLLBACK");
    repeat();
    return ended;
}

// Nobody else writes until the transaction ends, so the pages noted here are all that changed.
Result<bool> Scrub::scrub_some() {
    auto const count = connection_.integer("PRAGMA page_count");
    if (!count) return std::unexpected(count.error());
    page_count_ = static_cast<std::uint32_t>(*count);
    maps_.clear();
    left_.add(changes_.take());
    auto lists = free_lists();
    if (!lists) return std::unexpected(std::move(lists.error()));
    lists_ = *std::move(lists);
    auto const pages = left_.take(page_count_, next_page_, step_pages);
    auto const begun = steady_clock::now();
    for (std::size_t i = 0; i < pages.size(); ++i) {
        if (steady_clock::now() - begun > hold_max) {
            for (std::size_t rest = i; rest < pages.size(); ++rest) left_.add(pages[rest]);
            next_page_ = pages[i];
            return false;
        }
        if (auto done = scrub_page(pages[i]); !done)
            return std::unexpected(std::move(done.error()));
        next_page_ = pages[i] + 1;
    }
    return left_.empty();
}

Result<void> Scrub::scrub_page(std::uint32_t page) {
    if (is_map(page) || page == lock_byte / page_bytes_ + 1) return {};
    auto bytes = read(page);
    if (!bytes) return std::unexpected(std::move(bytes.error()));
    auto const changed = clear(page, *bytes);
    if (!changed) return std::unexpected(changed.error());
    if (!*changed) return {};
    auto put = connection_.query(1);
    put.bind(std::int64_t{page});
    put.bind_bytes({reinterpret_cast<char const*>(bytes->data()), bytes->size()});
    return put.run();
}

Result<bool> Scrub::clear(std::uint32_t page, std::vector<std::uint8_t>& bytes) {
    if (page == 1) return clear_tree_page(bytes, first_head);
    auto const entry = entry_of(page);
    if (!entry) return std::unexpected(entry.error());
    switch (entry->use) {
        case Use::root:
        case Use::tree: return clear_tree_page(bytes, 0);
        case Use::free: return lists_.has(page) ? clear_free_list(bytes) : clear_after(bytes, 0);
        case Use::first_overflow:
        case Use::next_overflow: return clear_overflow(page, *entry, bytes);
    }
    return false;
}

// The last page of a content that overflows its cell. How much of it is used follows from the cell.
Result<bool> Scrub::clear_overflow(std::uint32_t page, Entry entry,
                                   std::vector<std::uint8_t>& bytes) {
    if (number_at(bytes, 0) != 0) return false;
    auto const content = page_bytes_ - 4;
    std::uint64_t before = 0;  // bytes in the pages before this one
    for (; entry.use == Use::next_overflow; before += content) {
        page = entry.parent;
        auto const next = entry_of(page);
        if (!next) return std::unexpected(next.error());
        if (before > std::uint64_t{page_count_} * content) return false;  // damaged
        entry = *next;
    }
    if (entry.use != Use::first_overflow) return false;
    auto const cells = read(entry.parent);
    if (!cells) return std::unexpected(cells.error());
    auto const all = overflow_bytes(*cells, head_of(entry.parent), page);
    if (!all || *all < before || *all - before > content) return false;
    return clear_after(bytes, 4 + static_cast<std::size_t>(*all - before));
}

Result<std::vector<std::uint8_t>> Scrub::read(std::uint32_t page) {
    auto query = connection_.query(0);
    query.bind(std::int64_t{page});
    auto const found = query.next();
    if (!found) return std::unexpected(found.error());
    if (!*found || query.text(0).size() != page_bytes_) return unreadable(page);
    auto const bytes = query.text(0);
    return std::vector<std::uint8_t>(bytes.begin(), bytes.end());
}

std::uint32_t Scrub::map_of(std::uint32_t page) const {
    if (page < 2) return 0;
    auto const each = page_bytes_ / static_cast<std::uint32_t>(entry_bytes) + 1;
    auto const map = (page - 2) / each * each + 2;
    return map == lock_byte / page_bytes_ + 1 ? map + 1 : map;
}

Result<Scrub::Entry> Scrub::entry_of(std::uint32_t page) {
    auto const map = map_of(page);
    if (map == 0 || page <= map || page > page_count_) return unreadable(page);
    if (!maps_.contains(map)) {
        auto bytes = read(map);
        if (!bytes) return std::unexpected(std::move(bytes.error()));
        maps_.emplace(map, *std::move(bytes));
    }
    auto const& bytes = maps_.at(map);
    auto const at = entry_bytes * (page - map - 1);
    auto const use = bytes[at];
    if (use < std::to_underlying(Use::root) || use > std::to_underlying(Use::tree))
        return unreadable(page);
    return Entry{static_cast<Use>(use), number_at(bytes, at + 1)};
}

Result<PageSet> Scrub::free_lists() {
    PageSet out;
    auto bytes = read(1);
    std::size_t at = list_at;
    for (std::uint32_t count = 0; count <= page_count_; ++count) {
        if (!bytes) return std::unexpected(std::move(bytes.error()));
        auto const page = number_at(*bytes, at);
        if (page == 0 || page > page_count_) return out;
        out.add(page);
        at = 0;
        bytes = read(page);
    }
    return out;
}

}  // namespace dormouse::store::sqlite
