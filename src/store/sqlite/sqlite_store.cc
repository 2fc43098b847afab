#include "store/sqlite/sqlite_store.h"

#include "store/sqlite/data_directory.h"
#include "store/sqlite/memory.h"
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/schema/schema.h"
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

// A view has no writer.
template <class Work>
Result<void> changed(std::unique_ptr<sqlite::Writer> const& writer, Work work) {
    return writer ? unless_exhausted(std::move(work)) : is_view();
}

}  // namespace

SqliteStore::SqliteStore(std::unique_ptr<sqlite::DataDirectory> directory,
                         std::unique_ptr<sqlite::Writer> writer,
                         std::unique_ptr<sqlite::Reader> reader, Epoch epoch)
    : directory_(std::move(directory)),
      writer_(std::move(writer)),
      reader_(std::move(reader)),
      epoch_(epoch) {}

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
        sqlite::AuditPlace{audited->n, audited->hash}, options.changes);
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
    return changed(writer_, [&] { return writer_->raise_epoch(least); });
}

std::vector<port::AppendResult> SqliteStore::commit(std::span<port::Append const> appends) {
    if (writer_) return writer_->commit(appends);
    return std::vector<port::AppendResult>(appends.size(), std::unexpected(is_view().error()));
}

Result<void> SqliteStore::update_messages(std::span<port::OutboxUpdate const> updates) {
    return changed(writer_, [&] { return writer_->update_messages(updates); });
}

Result<port::Loaded> SqliteStore::load(SessionId session) {
    return unless_exhausted([&] { return reader_->load(session); });
}

Result<std::vector<port::Frame>> SqliteStore::page(SessionId session, Seq from,
                                                   std::size_t max_bytes) {
    return unless_exhausted([&] { return reader_->page(session, from, max_bytes); });
}

Result<std::vector<std::int64_t>> SqliteStore::day_sums(std::int64_t day,
                                                        std::span<std::string const> names) {
    return unless_exhausted([&] { return reader_->day_sums(day, names); });
}

Result<std::vector<Seq>> SqliteStore::lookup(SessionId session, std::span<std::string const> keys) {
    return unless_exhausted([&] { return reader_->lookup(session, keys); });
}

Result<std::optional<port::PendingRow>> SqliteStore::pending(SessionId session, CallNo call,
                                                             Generation generation) {
    return unless_exhausted([&] { return reader_->pending(session, call, generation); });
}

Result<std::vector<port::Due>> SqliteStore::due(Time until, std::optional<port::Due> after,
                                                std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->due(until, after, limit); });
}

Result<std::vector<SessionId>> SqliteStore::waiting_sessions(std::optional<SessionId> after,
                                                             std::uint32_t calls) {
    return unless_exhausted([&] { return reader_->waiting_sessions(after, calls); });
}

Result<std::vector<SessionId>> SqliteStore::sessions_in_error(std::string const& project,
                                                              std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->sessions_in_error(project, limit); });
}

Result<std::uint64_t> SqliteStore::count_waiting(std::string const& project, std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->count_waiting(project, limit); });
}

Result<port::OpenPending> SqliteStore::open_pending(std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->open_pending(limit); });
}

Result<std::optional<Time>> SqliteStore::next_due() {
    return unless_exhausted([&] { return reader_->next_due(); });
}

Result<std::vector<port::SessionRow>> SqliteStore::sessions(std::string const& project,
                                                            std::uint64_t before,
                                                            std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->sessions(project, before, limit); });
}

Result<std::vector<port::SessionRow>> SqliteStore::all_sessions(std::uint64_t after,
                                                                std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->all_sessions(after, limit); });
}

Result<std::vector<port::SessionRow>> SqliteStore::aliases(std::string const& project,
                                                           std::string const& alias,
                                                           std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->aliases(project, alias, limit); });
}

Result<std::vector<std::string>> SqliteStore::projects(std::string const& after,
                                                       std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->projects(after, limit); });
}

Result<port::SessionCounts> SqliteStore::session_counts(std::string const& project,
                                                        std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->session_counts(project, limit); });
}

Result<std::uint64_t> SqliteStore::journal_bytes(SessionId session) {
    return reader_->journal_bytes(session);
}

Result<std::uint64_t> SqliteStore::session_bytes(SessionId session) {
    return unless_exhausted([&] { return reader_->session_bytes(session); });
}

Result<std::vector<port::SessionHead>> SqliteStore::heads(std::uint64_t after,
                                                          std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->heads(after, limit); });
}

Result<std::vector<SessionId>> SqliteStore::completed_until(Time at, std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->completed_until(at, limit); });
}

Result<std::vector<port::PendingListed>> SqliteStore::list_pending(
    port::PendingFilter const& filter) {
    return unless_exhausted([&] { return reader_->list_pending(filter); });
}

Result<std::vector<port::PendingRow>> SqliteStore::pending_rows(SessionId session) {
    return unless_exhausted([&] { return reader_->pending_rows(session); });
}

Result<std::vector<port::KeyRow>> SqliteStore::key_rows(SessionId session) {
    return unless_exhausted([&] { return reader_->key_rows(session); });
}

Result<std::optional<std::string>> SqliteStore::artifact(SessionId session, Seq seq) {
    return unless_exhausted([&] { return reader_->artifact(session, seq); });
}

Result<std::optional<std::string>> SqliteStore::artifact_piece(SessionId session, Seq seq,
                                                               std::uint64_t offset,
                                                               std::size_t count) {
    return unless_exhausted([&] { return reader_->artifact_piece(session, seq, offset, count); });
}

Result<port::FeedPage> SqliteStore::feed(port::Projects const& projects, std::uint64_t after,
                                         std::size_t max_bytes) {
    return unless_exhausted([&] { return reader_->feed(projects, after, max_bytes); });
}

Result<std::uint64_t> SqliteStore::feed_head() {
    return unless_exhausted([&] { return reader_->feed_head(); });
}

Result<std::vector<port::NewestFrame>> SqliteStore::newest(std::span<SessionId const> sessions) {
    return unless_exhausted([&] { return reader_->newest(sessions); });
}

Result<std::optional<SessionId>> SqliteStore::find_created(Bits128 const& create_key) {
    return unless_exhausted([&] { return reader_->find_created(create_key); });
}

Result<std::vector<port::OutboxRow>> SqliteStore::due_messages(std::string const& kind, Time until,
                                                               std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->due_messages(kind, until, limit); });
}

Result<std::vector<port::DueMessage>> SqliteStore::due_by_target(Time until,
                                                                 std::string const& after,
                                                                 std::uint32_t each,
                                                                 std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->due_by_target(until, after, each, limit); });
}

Result<std::optional<port::OutboxRow>> SqliteStore::post(port::OutboxKey const& key) {
    return unless_exhausted([&] { return reader_->post(key); });
}

Result<std::vector<port::OutboxRow>> SqliteStore::list_messages(port::OutboxFilter const& filter) {
    return unless_exhausted([&] { return reader_->list_messages(filter); });
}

Result<std::optional<std::string>> SqliteStore::project_of(SessionId session) {
    return unless_exhausted([&] { return reader_->project_of(session); });
}

Result<void> SqliteStore::drop_delivered(Time until) {
    return changed(writer_, [&] { return writer_->drop_delivered(until); });
}

Result<std::uint64_t> SqliteStore::count_given_up(Time until, std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->count_given_up(until, limit); });
}

Result<void> SqliteStore::drop_given_up(Time until, std::uint32_t limit) {
    return changed(writer_, [&] { return writer_->drop_given_up(until, limit); });
}

Result<void> SqliteStore::trim_audit(std::uint64_t through, std::string const& line) {
    return changed(writer_, [&] { return writer_->trim_audit(through, line); });
}

Result<std::vector<port::SentRow>> SqliteStore::sent(SessionId session, CallNo call,
                                                     Generation generation,
                                                     std::string const& target) {
    return unless_exhausted([&] { return reader_->sent(session, call, generation, target); });
}

Result<std::optional<std::string>> SqliteStore::secret(SessionId session, CallNo call,
                                                       Generation generation) {
    return unless_exhausted([&] { return reader_->secret(session, call, generation); });
}

Result<std::optional<Bits128>> SqliteStore::delivered(Bits128 const& key) {
    return unless_exhausted([&] { return reader_->delivered(key); });
}

Result<std::vector<port::KeptRow>> SqliteStore::kept(std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->kept(limit); });
}

Result<void> SqliteStore::keep(port::KeptRow const& row) {
    return changed(writer_, [&] { return writer_->keep(row); });
}

Result<void> SqliteStore::drop_kept(std::span<Bits128 const> keys) {
    return changed(writer_, [&] { return writer_->drop_kept(keys); });
}

Result<void> SqliteStore::change_tokens(port::TokenChange const& change) {
    return changed(writer_, [&] { return writer_->change_tokens(change); });
}

Result<std::vector<port::TokenRow>> SqliteStore::tokens() {
    return unless_exhausted([&] { return reader_->tokens(); });
}

Result<void> SqliteStore::change_devices(port::DeviceChange const& change) {
    return changed(writer_, [&] { return writer_->change_devices(change); });
}

Result<std::vector<port::DeviceRow>> SqliteStore::devices() {
    return unless_exhausted([&] { return reader_->devices(); });
}

Result<std::vector<port::DataKeyRow>> SqliteStore::data_keys() {
    return unless_exhausted([&] { return reader_->data_keys(); });
}

Result<void> SqliteStore::put_data_keys(std::span<port::DataKeyRow const> rows) {
    return changed(writer_, [&] { return writer_->put_data_keys(rows); });
}

Result<void> SqliteStore::drop_rule(port::RuleDrop const& drop) {
    return changed(writer_, [&] { return writer_->drop_rule(drop); });
}

Result<std::vector<port::RuleRow>> SqliteStore::rules() {
    return unless_exhausted([&] { return reader_->rules(); });
}

Result<std::vector<port::AuditRow>> SqliteStore::audit(std::uint64_t after, std::uint32_t limit) {
    return unless_exhausted([&] { return reader_->audit(after, limit); });
}

Result<std::vector<std::string>> SqliteStore::feed_and_audit_findings() {
    return reader_->feed_and_audit_findings();
}

Result<void> SqliteStore::ping() {
    if (writer_ && writer_->stopped())
        return fail(Code::fail_stop, "a write could not be made durable: reopen the store");
    return unless_exhausted([&] { return reader_->ping(); });
}

}  // namespace dormouse::store
