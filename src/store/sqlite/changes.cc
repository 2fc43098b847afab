#include "store/sqlite/changes.h"

#include "store/sqlite/schema/schema.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace dormouse::store::sqlite {

namespace {

// https://sqlite.org/walformat.html: two copies of a header of 48 bytes.
constexpr std::size_t index_head_bytes = 48;
constexpr std::size_t commits_at = 8, frames_at = 16, salt_at = 32;
constexpr int index_region_bytes = 32'768;
constexpr std::uint64_t log_head_bytes = 32, frame_head_bytes = 24;
constexpr int tries = 1'000;
constexpr int cut_cache_kib = 256;  // no page is read twice
constexpr int cut_wait_ms = 10'000;

constexpr std::array<char const*, 1> one_page{
    "SELECT data FROM sqlite_dbpage('main') WHERE pgno=?"};

std::uint32_t native(std::uint8_t const* bytes) {
    std::uint32_t out = 0;
    std::memcpy(&out, bytes, sizeof out);
    return out;
}

std::uint32_t big_endian(std::uint8_t const* bytes) {
    return (std::uint32_t{bytes[0]} << 24U) | (std::uint32_t{bytes[1]} << 16U) |
           (std::uint32_t{bytes[2]} << 8U) | bytes[3];
}

// SQLite writes the copy at the end first.
using IndexHead = std::array<std::uint8_t, index_head_bytes>;
IndexHead copied(void const volatile* from) {
    IndexHead out{};
    auto const* const bytes = static_cast<std::uint8_t const volatile*>(from);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bytes[i];
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return out;
}

}  // namespace

Changes::~Changes() { close(); }

Result<void> Changes::open(std::filesystem::path const& directory) {
    auto connection =
        Connection::open(directory / "dormouse.db",
                         {.cache_kib = cut_cache_kib, .busy_timeout_ms = cut_wait_ms, .vfs = {}});
    if (!connection) return std::unexpected(std::move(connection.error()));
    auto set = connection->run("PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0");
    if (set) set = connection->prepare(one_page);
    if (!set) return set;
    auto const page_bytes = connection->integer("PRAGMA page_size");
    if (!page_bytes) return std::unexpected(page_bytes.error());
    // A read, so that SQLite maps the index of its log.
    if (auto const version = version_of(*connection); !version)
        return std::unexpected(version.error());
    std::scoped_lock const lock(mutex_);
    connection_ = std::make_unique<Connection>(*std::move(connection));
    page_bytes_ = static_cast<std::uint32_t>(*page_bytes);
    changed_ = {};
    changed_.add_all();
    return map_log(directory);
}

// The index is read through SQLite's own mapping: to open and close its file would end the locks
// that this process has on it.
Result<void> Changes::map_log(std::filesystem::path const& directory) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(connection_->handle(), "main", SQLITE_FCNTL_FILE_POINTER,
                         static_cast<void*>(&file));
    void volatile* index = nullptr;
    if (file == nullptr || file->pMethods == nullptr || file->pMethods->iVersion < 2 ||
        file->pMethods->xShmMap(file, 0, index_region_bytes, 0, &index) != SQLITE_OK ||
        index == nullptr)
        return fail(Code::store_unavailable, "dormouse.db: the index of the log cannot be read");
    auto const log = directory / "dormouse.db-wal";
    log_ = ::open(log.c_str(), O_RDONLY | O_CLOEXEC);
    if (log_ < 0)
        return fail(Code::store_unavailable,
                    "dormouse.db-wal: " + std::generic_category().message(errno));
    index_ = index;
    if (!read_head(noted_)) noted_ = {};
    return {};
}

void Changes::close() {
    std::scoped_lock const lock(mutex_);
    index_ = nullptr;
    if (log_ >= 0) ::close(std::exchange(log_, -1));
    connection_.reset();
}

void Changes::note() {
    std::scoped_lock const lock(mutex_);
    note_new();
}

void Changes::change_all() {
    std::scoped_lock const lock(mutex_);
    changed_.add_all();
    next_page_ = 1;
}

PageSet Changes::take() {
    std::scoped_lock const lock(mutex_);
    note_new();
    return std::exchange(changed_, {});
}

bool Changes::read_head(Head& to) const {
    for (int i = 0; i < tries; ++i) {
        auto const first = copied(index_);
        auto const second =
            copied(static_cast<std::uint8_t const volatile*>(index_) + index_head_bytes);
        if (first != second) continue;
        to.commits = native(first.data() + commits_at);
        to.frames = native(first.data() + frames_at);
        std::copy_n(first.begin() + salt_at, to.salt.size(), to.salt.begin());
        return true;
    }
    return false;
}

void Changes::note_new() {
    if (index_ == nullptr) return;
    Head head;
    if (!read_head(head)) {
        changed_.add_all();
        return;
    }
    if (head.commits == noted_.commits) return;
    bool const same_log = head.salt == noted_.salt && head.frames >= noted_.frames;
    if (!read_frames(head, same_log ? noted_.frames : 0)) changed_.add_all();
    noted_ = head;
}

// Returns whether the frames hold every commit since the last note.
bool Changes::read_frames(Head const& head, std::uint32_t from) {
    std::uint32_t commits = 0;
    for (std::uint64_t frame = from; frame < head.frames; ++frame) {
        std::array<std::uint8_t, frame_head_bytes> bytes{};
        auto const at = log_head_bytes + frame * (frame_head_bytes + page_bytes_);
        auto const count = ::pread(log_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (count != static_cast<ssize_t>(bytes.size())) return false;
        if (!std::equal(head.salt.begin(), head.salt.end(), bytes.begin() + 8)) return false;
        changed_.add(big_endian(bytes.data()));
        if (big_endian(bytes.data() + 4) != 0) ++commits;  // the last frame of a transaction
    }
    return commits == head.commits - noted_.commits;
}

// Begins to read one state. A page that changes between the two notes may have changed before the
// state or after it: it belongs to this cut and to the next.
Result<PageSet> Changes::begin_cut() {
    std::scoped_lock const lock(mutex_);
    note_new();
    auto begun = connection_->run("BEGIN");
    if (begun) {
        auto const version =
            version_of(*connection_);  // the first read: the state is this moment's
        if (!version) begun = std::unexpected(version.error());
    }
    if (!begun) return std::unexpected(std::move(begun.error()));
    auto out = std::exchange(changed_, {});
    note_new();
    out.add(changed_);
    return out;
}

Result<Cut> Changes::cut(std::size_t pages_max) {
    Cut out;
    auto set = begin_cut();
    Result<void> done;
    if (!set) done = std::unexpected(std::move(set.error()));
    if (done) done = read_state(out);
    PageSet const all = set ? *set : PageSet();
    if (done) {
        out.pages = set->take(out.page_count, next_page_, pages_max);
        out.complete = set->empty();
        done = read_pages(out);
    }
    if (connection_->in_transaction()) std::ignore = connection_->run("ROLLBACK");
    std::scoped_lock const lock(mutex_);
    if (!done) {
        changed_.add(all);
        return std::unexpected(std::move(done.error()));
    }
    changed_.add(*set);
    next_page_ = out.pages.empty() ? 1 : out.pages.back() + 1;
    return out;
}

Result<void> Changes::read_state(Cut& out) {
    out.page_bytes = page_bytes_;
    auto const format = version_of(*connection_);
    if (!format) return std::unexpected(format.error());
    out.format = *format;
    auto const epoch = connection_->integer("SELECT value FROM meta WHERE name = 'epoch'");
    auto const feed = connection_->integer("SELECT max(n) FROM feed");
    auto const pages = connection_->integer("PRAGMA page_count");
    for (auto const* const each : {&epoch, &feed, &pages})
        if (!*each) return std::unexpected(each->error());
    out.epoch = static_cast<std::uint64_t>(*epoch);
    out.feed = static_cast<std::uint64_t>(*feed);
    out.page_count = static_cast<std::uint32_t>(*pages);
    return {};
}

Result<void> Changes::read_pages(Cut& out) {
    out.content.reserve(out.pages.size() * page_bytes_);
    for (std::uint32_t const page : out.pages) {
        auto query = connection_->query(0);
        query.bind(std::int64_t{page});
        auto const found = query.next();
        if (!found) return std::unexpected(found.error());
        if (!*found || query.text(0).size() != page_bytes_)
            return fail(Code::internal,
                        "dormouse.db: page " + std::to_string(page) + " cannot be read");
        out.content += query.text(0);
    }
    return {};
}

}  // namespace dormouse::store::sqlite
