#include "store/sqlite/sqlite_store.h"

#include "port/divided_store_members.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/memory.h"
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/schema/schema.h"
#include "store/sqlite/writer/overwriting.h"
#include "store/sqlite/writer/writer.h"

#include <sqlite3.h>

#include <new>

namespace dormouse::store {
namespace {

using sqlite::Connection;

// Earlier releases can damage a file if two connections reset the log at the same moment.
constexpr int version_min = 3'051'003;

Result<void> check_library() {
    if (sqlite3_libversion_number() >= version_min && sqlite3_threadsafe() != 0) return {};
    return fail(Code::wrong_state,
                std::string("SQLite ") + sqlite3_libversion() +
                    " cannot be used: 3.51.3 or later, built for threads, is needed");
}

Result<void> use_log(Connection& connection) {
    // If the database cannot use the log, SQLite keeps another mode and reports no error.
    auto const mode = connection.text("PRAGMA journal_mode=WAL");
    if (!mode) return std::unexpected(mode.error());
    if (*mode != "wal")
        return fail(Code::store_unavailable, "the file system cannot hold a write-ahead log");
    return connection.run("PRAGMA synchronous=FULL");
}

Result<Epoch> count_epoch(Connection& connection) {
    auto const epoch = connection.integer(
        "UPDATE meta SET value = value + 1 WHERE name = 'epoch' RETURNING value");
    if (!epoch) return std::unexpected(epoch.error());
    if (*epoch <= 0) return fail(Code::internal, "dormouse.db is damaged: the epoch is missing");
    return static_cast<Epoch>(*epoch);
}

Result<Connection> open_writer(std::filesystem::path const& file, SqliteOptions const& options) {
    auto connection = Connection::open(file, {.cache_kib = options.writer_cache_kib,
                                              .busy_timeout_ms = options.busy_timeout_ms,
                                              .vfs = options.vfs});
    if (!connection) return connection;
    // Checked before anything is written, so that a foreign file stays unchanged.
    auto const version = sqlite::version_of(*connection);
    if (!version) return std::unexpected(version.error());
    // A file that is made now can give space back beside its server (compact). It says so in its
    // first page, which the change to the log writes.
    if (*version == 0) {
        if (auto const set = connection->run("PRAGMA auto_vacuum=INCREMENTAL"); !set)
            return std::unexpected(set.error());
    }
    if (auto const set = use_log(*connection); !set) return std::unexpected(set.error());
    if (auto const done = sqlite::migrate(*connection, sqlite::migrations()); !done)
        return std::unexpected(done.error());
    if (auto const done = connection->prepare(sqlite::write_statements()); !done)
        return std::unexpected(done.error());
    return connection;
}

Result<Connection> open_reader(std::filesystem::path const& file, SqliteOptions const& options) {
    auto connection = Connection::open(file, {.cache_kib = options.reader_cache_kib,
                                              .busy_timeout_ms = options.busy_timeout_ms,
                                              .vfs = options.vfs});
    if (!connection) return connection;
    auto const set = connection->run("PRAGMA query_only=ON; PRAGMA wal_autocheckpoint=0");
    if (!set) return std::unexpected(set.error());
    if (auto const done = connection->prepare(sqlite::read_statements()); !done)
        return std::unexpected(done.error());
    return connection;
}

// Converts a failed allocation to an error. The writer has rolled back by then.
template <class Work> auto unless_exhausted(Work work) -> decltype(work()) {
    try {
        return work();
    } catch (std::bad_alloc const&) {
        return std::unexpected(
            Error{Code::overloaded, "There is not enough memory for this now.", {}, 1'000});
    }
}

Result<void> is_view() { return fail(Code::wrong_state, "The store was opened to read it only."); }

}  // namespace

template <class Ask> auto SqliteStore::reading(Ask ask) {
    return unless_exhausted([&] { return ask(*reader_); });
}

// A view has no writer.
template <class Work> Result<void> SqliteStore::writing(Work work) {
    if (!writer_) return is_view();
    std::scoped_lock const held(write_lock_);
    auto done = unless_exhausted([&] { return work(*writer_); });
    overwrite_later();
    return done;
}

SqliteStore::SqliteStore(std::unique_ptr<sqlite::DataDirectory> directory,
                         std::unique_ptr<sqlite::Writer> writer,
                         std::unique_ptr<sqlite::Reader> reader, Epoch epoch)
    : directory_(std::move(directory)),
      writer_(std::move(writer)),
      reader_(std::move(reader)),
      epoch_(epoch) {
    if (!directory_ || !writer_) return;
    overwriting_ = std::make_unique<sqlite::Overwriting>(*writer_, write_lock_);
    std::scoped_lock const held(write_lock_);
    overwrite_later();
}

SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(std::filesystem::path const& directory,
                                                       SqliteOptions const& options) {
    sqlite::use_process_memory();
    if (auto const usable = check_library(); !usable) return std::unexpected(usable.error());
    std::unique_ptr<sqlite::DataDirectory> owned;
    if (options.vfs.empty()) {
        auto acquired = sqlite::DataDirectory::acquire(directory);
        if (!acquired) return std::unexpected(acquired.error());
        owned = std::make_unique<sqlite::DataDirectory>(std::move(*acquired));
    }
    auto const file = directory / "dormouse.db";
    auto writing = open_writer(file, options);
    if (!writing) return std::unexpected(writing.error());
    auto const epoch = count_epoch(*writing);
    if (!epoch) return std::unexpected(epoch.error());
    auto reading = open_reader(file, options);
    if (!reading) return std::unexpected(reading.error());
    auto reader = std::make_unique<sqlite::Reader>(std::move(*reading), file.string());
    auto const largest = reader->largest_number();
    if (!largest) return std::unexpected(largest.error());
    auto const fed = reader->feed_head();
    if (!fed) return std::unexpected(fed.error());
    auto const audited = reader->audit_head();
    if (!audited) return std::unexpected(audited.error());
    auto writer = std::make_unique<sqlite::Writer>(
        std::move(*writing), *largest + 1, sqlite::FeedPlace{*fed, options.feed_kept},
        sqlite::AuditPlace{audited->n, audited->hash},
        owned ? std::optional(directory) : std::nullopt, options.changes,
        sqlite::Writer::Limits{options.rebuilt_max, options.overwrite_after});
    return std::unique_ptr<SqliteStore>(
        new SqliteStore(std::move(owned), std::move(writer), std::move(reader), *epoch));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open_view(
    std::filesystem::path const& directory) {
    sqlite::use_process_memory();
    if (auto const usable = check_library(); !usable) return std::unexpected(usable.error());
    auto const file = directory / "dormouse.db";
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        return fail(Code::not_found,
                    "dormouse.db not found in " + directory.string() + "; set --data DIR");
    auto probe = Connection::open(file, {.busy_timeout_ms = SqliteOptions().busy_timeout_ms});
    if (!probe) return std::unexpected(std::move(probe.error()));
    auto const version = sqlite::version_of(*probe);
    if (!version) return std::unexpected(version.error());
    if (*version < sqlite::migrations().size())
        return fail(Code::wrong_state,
                    "dormouse.db has the format of an older release: start the server of this "
                    "release once");
    auto reading = open_reader(file, {});
    if (!reading) return std::unexpected(std::move(reading.error()));
    auto reader = std::make_unique<sqlite::Reader>(std::move(*reading), file.string());
    if (auto held = reader->hold_view(); !held) return std::unexpected(std::move(held.error()));
    auto const epoch = probe->integer("SELECT value FROM meta WHERE name = 'epoch'");
    if (!epoch) return std::unexpected(epoch.error());
    return std::unique_ptr<SqliteStore>(
        new SqliteStore(nullptr, nullptr, std::move(reader), static_cast<Epoch>(*epoch)));
}

std::uint64_t SqliteStore::next_session_number() {
    return writer_ ? writer_->next_number() : reader_->largest_number().value_or(0) + 1;
}

Result<void> SqliteStore::raise_epoch(Epoch least) {
    return writing([&](sqlite::Writer& writer) { return writer.raise_epoch(least); });
}

std::vector<port::AppendResult> SqliteStore::commit(std::span<port::Append const> appends) {
    if (!writer_)
        return std::vector<port::AppendResult>(appends.size(), std::unexpected(is_view().error()));
    std::scoped_lock const held(write_lock_);
    auto results = writer_->commit(appends);
    overwrite_later();
    return results;
}

void SqliteStore::overwrite_later() {
    if (overwriting_ && writer_->has_remains()) overwriting_->start();
}

Result<std::vector<port::DataKeyRow>> SqliteStore::data_keys() {
    return reading([](sqlite::Reader& reader) { return reader.data_keys(); });
}

Result<void> SqliteStore::put_data_keys(std::span<port::DataKeyRow const> rows) {
    return writing([&](sqlite::Writer& writer) { return writer.put_data_keys(rows); });
}

Result<std::vector<std::uint64_t>> SqliteStore::audit_ends() {
    return unless_exhausted([&] { return reader_->audit_ends(); });
}

Result<bool> SqliteStore::removed_contents_remain() {
    return reading([](sqlite::Reader& reader) { return reader.removed_contents_remain(); });
}

Result<std::vector<std::string>> SqliteStore::feed_and_audit_findings() {
    return reader_->feed_and_audit_findings();
}

Result<void> SqliteStore::ping() {
    if (writer_ && writer_->stopped())
        return fail(Code::fail_stop, "a write could not be made durable: reopen the store");
    if (auto room = writer_ ? writer_->room().check() : Result<void>(); !room) return room;
    return reading([](sqlite::Reader& reader) { return reader.ping(); });
}

}  // namespace dormouse::store

template class dormouse::port::DividedStore<dormouse::store::SqliteStore>;
