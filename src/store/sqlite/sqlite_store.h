#pragma once
// The default store: one SQLite file, DIR/dormouse.db, in WAL mode with a sync in every commit.
//
// One connection writes and checkpoints (Writer), another one reads (Reader). So commit() and the
// queries may run on two threads, as port::Store requires. The tables are in schema.cc, all
// statements in statements.cc.

#include "port/data_keys.h"
#include "port/store.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::store {

namespace sqlite {
class Changes;
class DataDirectory;
class Reader;
class Writer;
}  // namespace sqlite

struct SqliteOptions {
    // The reader's page cache is small, because it is valid only until the other connection
    // commits.
    int writer_cache_kib = 16 * 1024;
    int reader_cache_kib = 2 * 1024;
    int busy_timeout_ms =
        2'000;  // waits for other programs that lock the file, such as the sqlite3 shell
    // A registered SQLite VFS, for a simulated file system. The directory must exist and is not
    // locked.
    std::string vfs = {};
    std::shared_ptr<sqlite::Changes> changes = {};  // null: nobody follows what changes
    std::uint64_t feed_kept = 1'000'000;            // how many appends of the feed are kept
};

class SqliteStore final : public port::Store, public port::DataKeyStore {
public:
    // Creates missing files, migrates an older file and increments the epoch. Errors: wrong_state
    // (in use, another program's file, or SQLite is too old), newer_format (the file stays
    // unchanged), store_unavailable, store_full, internal (damaged).
    [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(
        std::filesystem::path const& directory, SqliteOptions const& options = {});
    // Opens a directory beside the process that uses it: all reads have one view of the data, and
    // every write fails. Changes nothing. Errors as in open(), and not_found (there is no store).
    [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open_view(
        std::filesystem::path const& directory);
    ~SqliteStore() override;

    // The next open() gets an epoch above `least`. Called by the writer.
    [[nodiscard]] Result<void> raise_epoch(Epoch least);

    [[nodiscard]] Epoch epoch() const override { return epoch_; }
    [[nodiscard]] std::uint64_t next_session_number() override;
    // The lock on the data directory keeps other processes out.
    [[nodiscard]] bool shared() const override { return false; }
    [[nodiscard]] std::size_t readers() const override { return 1; }
    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override;
    [[nodiscard]] Result<void> update_messages(
        std::span<port::OutboxUpdate const> updates) override;
    [[nodiscard]] Result<port::Loaded> load(SessionId session) override;
    [[nodiscard]] Result<std::vector<port::NewestFrame>> newest(
        std::span<SessionId const> sessions) override;
    [[nodiscard]] Result<std::vector<port::Frame>> page(SessionId session, Seq from,
                                                        std::size_t max_bytes) override;
    [[nodiscard]] Result<std::vector<Seq>> lookup(SessionId session,
                                                  std::span<std::string const> keys) override;
    [[nodiscard]] Result<std::vector<std::int64_t>> day_sums(
        std::int64_t day, std::span<std::string const> names) override;
    [[nodiscard]] Result<std::optional<port::PendingRow>> pending(SessionId session, CallNo call,
                                                                  Generation generation) override;
    [[nodiscard]] Result<std::vector<port::Due>> due(Time until, std::optional<port::Due> after,
                                                     std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<Time>> next_due() override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> sessions(std::string const& project,
                                                                 std::uint64_t before,
                                                                 std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> all_sessions(std::uint64_t after,
                                                                     std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<std::string>> projects(std::string const& after,
                                                            std::uint32_t limit) override;
    [[nodiscard]] Result<port::SessionCounts> session_counts(std::string const& project,
                                                             std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::SessionRow>> aliases(std::string const& project,
                                                                std::string const& alias,
                                                                std::uint32_t limit) override;
    [[nodiscard]] Result<std::uint64_t> session_bytes(SessionId session) override;
    [[nodiscard]] Result<std::uint64_t> journal_bytes(SessionId session) override;
    [[nodiscard]] Result<std::vector<port::SessionHead>> heads(std::uint64_t after,
                                                               std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> completed_until(Time at,
                                                                 std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override;
    [[nodiscard]] Result<std::vector<SessionId>> sessions_in_error(std::string const& project,
                                                                   std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<SessionId>> waiting_sessions(std::optional<SessionId> after,
                                                                  std::uint32_t calls) override;
    [[nodiscard]] Result<port::OpenPending> open_pending(std::uint32_t limit) override;
    [[nodiscard]] Result<std::uint64_t> count_waiting(std::string const& project,
                                                      std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::PendingRow>> pending_rows(SessionId session) override;
    [[nodiscard]] Result<std::vector<port::KeyRow>> key_rows(SessionId session) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact(SessionId session, Seq seq) override;
    [[nodiscard]] Result<std::optional<std::string>> artifact_piece(SessionId session, Seq seq,
                                                                    std::uint64_t offset,
                                                                    std::size_t count) override;
    [[nodiscard]] Result<port::FeedPage> feed(port::Projects const& projects, std::uint64_t after,
                                              std::size_t max_bytes) override;
    [[nodiscard]] Result<std::uint64_t> feed_head() override;
    [[nodiscard]] Result<std::optional<SessionId>> find_created(Bits128 const& create_key) override;
    [[nodiscard]] Result<std::vector<port::OutboxRow>> due_messages(std::string const& kind,
                                                                    Time until,
                                                                    std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::DueMessage>> due_by_target(Time until,
                                                                      std::string const& after,
                                                                      std::uint32_t each,
                                                                      std::uint32_t limit) override;
    [[nodiscard]] Result<std::optional<port::OutboxRow>> post(port::OutboxKey const& key) override;
    [[nodiscard]] Result<std::vector<port::OutboxRow>> list_messages(
        port::OutboxFilter const& filter) override;
    [[nodiscard]] Result<std::optional<std::string>> project_of(SessionId session) override;
    [[nodiscard]] Result<void> drop_delivered(Time until) override;
    [[nodiscard]] Result<std::uint64_t> count_given_up(Time until, std::uint32_t limit) override;
    [[nodiscard]] Result<void> drop_given_up(Time until, std::uint32_t limit) override;
    [[nodiscard]] Result<void> trim_audit(std::uint64_t through, std::string const& line) override;
    [[nodiscard]] Result<std::vector<port::SentRow>> sent(SessionId session, CallNo call,
                                                          Generation generation,
                                                          std::string const& target) override;
    [[nodiscard]] Result<std::optional<std::string>> secret(SessionId session, CallNo call,
                                                            Generation generation) override;
    [[nodiscard]] Result<std::optional<Bits128>> delivered(Bits128 const& key) override;
    [[nodiscard]] Result<std::vector<port::KeptRow>> kept(std::uint32_t limit) override;
    [[nodiscard]] Result<void> keep(port::KeptRow const& row) override;
    [[nodiscard]] Result<void> drop_kept(std::span<Bits128 const> keys) override;
    [[nodiscard]] Result<void> change_tokens(port::TokenChange const& change) override;
    [[nodiscard]] Result<std::vector<port::TokenRow>> tokens() override;
    [[nodiscard]] Result<void> change_devices(port::DeviceChange const& change) override;
    [[nodiscard]] Result<std::vector<port::DeviceRow>> devices() override;
    [[nodiscard]] Result<void> drop_rule(port::RuleDrop const& drop) override;
    [[nodiscard]] Result<std::vector<port::RuleRow>> rules() override;
    [[nodiscard]] Result<std::vector<port::AuditRow>> audit(std::uint64_t after,
                                                            std::uint32_t limit) override;
    [[nodiscard]] Result<std::vector<port::DataKeyRow>> data_keys() override;
    [[nodiscard]] Result<void> put_data_keys(std::span<port::DataKeyRow const> rows) override;
    // Returns contradictions between the feed and the sessions, and a missing end of the audit: one
    // sentence each. Reads whole tables.
    [[nodiscard]] Result<std::vector<std::string>> feed_and_audit_findings();
    [[nodiscard]] Result<void> ping() override;

private:
    SqliteStore(std::unique_ptr<sqlite::DataDirectory> directory,
                std::unique_ptr<sqlite::Writer> writer, std::unique_ptr<sqlite::Reader> reader,
                Epoch epoch);

    // Constant after construction. The order matters: the reader is destroyed before the writer
    // checkpoints, and the lock is released last.
    std::unique_ptr<sqlite::DataDirectory> directory_;  // null: a simulated file system, or a view
    std::unique_ptr<sqlite::Writer> writer_;            // null: a view
    std::unique_ptr<sqlite::Reader> reader_;
    Epoch epoch_;
};

}  // namespace dormouse::store
