#include "store/sqlite/compact.h"

#include "store/sqlite/connection.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/memory.h"
#include "store/sqlite/schema/schema.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

namespace dormouse::store::sqlite {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr int compact_cache_kib = 4 * 1024;
constexpr int compact_wait_ms = 10'000;
constexpr std::int64_t incremental = 2;  // PRAGMA auto_vacuum
constexpr std::int64_t pages_min = 8, pages_max = 1'024;
constexpr auto step_max = std::chrono::milliseconds(20);
constexpr int rest = 3;  // times as long as a step, for those who write
constexpr char const* new_name = "dormouse.db.compact";

std::uint64_t bytes_of_files(fs::path const& directory) {
    std::uint64_t out = 0;
    for (char const* const name : {"dormouse.db", "dormouse.db-wal"}) {
        std::error_code error;
        auto const size = fs::file_size(directory / name, error);
        if (!error) out += size;
    }
    return out;
}

Result<Connection> open_file(fs::path const& directory) {
    auto connection = Connection::open(
        directory / "dormouse.db",
        {.cache_kib = compact_cache_kib, .busy_timeout_ms = compact_wait_ms, .vfs = {}});
    if (!connection) return connection;
    auto const version = version_of(*connection);
    if (!version) return std::unexpected(version.error());
    if (*version == 0) return fail(Code::not_found, "dormouse.db is empty: nothing to compact");
    auto set = connection->run("PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=FULL");
    if (!set) return std::unexpected(std::move(set.error()));
    return connection;
}

// Each step is a transaction; how many pages it moves follows from how long the last one took.
Result<void> give_back(Connection& connection) {
    std::int64_t pages = pages_min;
    for (;;) {
        auto const free = connection.integer("PRAGMA freelist_count");
        if (!free) return std::unexpected(free.error());
        if (*free == 0) break;
        auto const begun = steady_clock::now();
        auto done = connection.run("PRAGMA incremental_vacuum(" + std::to_string(pages) + ")");
        if (done) done = connection.run("PRAGMA wal_checkpoint(PASSIVE)");
        if (!done) return done;
        auto const took = steady_clock::now() - begun;
        pages = std::clamp(took > step_max ? pages / 2 : pages * 2, pages_min, pages_max);
        std::this_thread::sleep_for(took * rest);
    }
    return connection.run("PRAGMA wal_checkpoint(PASSIVE)");
}

std::unexpected<Error> unwritable(fs::path const& path, int error) {
    return fail(error == ENOSPC ? Code::store_full : Code::store_unavailable,
                path.string() + ": " + std::generic_category().message(error));
}

Result<void> sync_copy(fs::path const& path) {
    int const fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return unwritable(path, errno);
    int const error = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    if (error != 0) return unwritable(path, error);
    return {};
}

// An empty file that only its owner can read. A crash may have left one.
Result<void> make_new(fs::path const& path) {
    std::error_code error;
    fs::remove(path, error);
    int const fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return unwritable(path, errno);
    ::close(fd);
    return {};
}

Result<void> write_copy(fs::path const& directory, fs::path const& copy) {
    auto connection = open_file(directory);
    if (!connection) return std::unexpected(std::move(connection.error()));
    // Before the checkpoint: it writes to a file that has this mode already.
    auto done = connection->run("PRAGMA auto_vacuum=INCREMENTAL");
    // The log must be empty, because it does not fit the new file.
    if (done) done = connection->run("PRAGMA wal_checkpoint(TRUNCATE)");
    std::string quoted;
    for (char const c : copy.string()) quoted += c == '\'' ? "''" : std::string(1, c);
    if (done) done = connection->run("VACUUM INTO '" + quoted + "'");
    if (!done) return done;
    std::error_code error;
    auto const log = fs::file_size(directory / "dormouse.db-wal", error);
    if (!error && log > 0)
        return fail(Code::wrong_state, "another program reads the database: end it first");
    return {};
}

// REQUIRES: the directory is locked.
Result<void> rewrite_database(fs::path const& directory) {
    auto const copy = directory / new_name;
    auto done = make_new(copy);
    if (done) done = write_copy(directory, copy);
    if (done) done = sync_copy(copy);
    if (done && ::rename(copy.c_str(), (directory / "dormouse.db").c_str()) != 0)
        done = unwritable(copy, errno);
    if (done) return sync_directory(directory);
    std::error_code error;
    fs::remove(copy, error);
    return done;
}

Result<bool> gives_pages_back(fs::path const& directory) {
    auto connection = open_file(directory);
    if (!connection) return std::unexpected(std::move(connection.error()));
    auto const mode = connection->integer("PRAGMA auto_vacuum");
    if (!mode) return std::unexpected(mode.error());
    if (*mode != incremental) return false;
    auto done = give_back(*connection);
    if (!done) return std::unexpected(std::move(done.error()));
    return true;
}

}  // namespace

Result<void> rewrite_file(fs::path const& directory) {
    use_process_memory();
    auto const owned = DataDirectory::acquire(directory);
    if (!owned) return std::unexpected(owned.error());
    return rewrite_database(directory);
}

Result<CompactReport> compact(fs::path const& directory) {
    use_process_memory();
    std::error_code error;
    if (!fs::exists(directory / "dormouse.db", error))
        return fail(Code::not_found,
                    "dormouse.db not found in " + directory.string() + "; set --data DIR");
    CompactReport out{bytes_of_files(directory), 0, false};
    auto const done = gives_pages_back(directory);
    if (!done) return std::unexpected(done.error());
    if (!*done) {
        auto const owned = DataDirectory::acquire(directory);
        if (!owned)
            return fail(owned.error().code,
                        owned.error().detail +
                            ". The first time compact rewrites the whole file, without a server; "
                            "from then on it works beside one");
        if (auto rewritten = rewrite_database(directory); !rewritten)
            return std::unexpected(std::move(rewritten.error()));
        out.rewritten = true;
    }
    out.after = bytes_of_files(directory);
    return out;
}

}  // namespace dormouse::store::sqlite
