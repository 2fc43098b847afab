#pragma once
// The default store: one SQLite file, DIR/dormouse.db, in WAL mode with a sync in every commit.
//
// One connection writes and checkpoints (Writer), another one reads (Reader). So commit() and the
// queries may run on two threads, as port::Store requires. After a redaction of a large file a
// third thread overwrites its unused space (Overwriting). The tables are in schema.cc, all
// statements in statements.cc.

#include "port/audit_ends.h"
#include "port/data_keys.h"
#include "port/divided_store.h"
#include "port/rewriter.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::store {

namespace sqlite {
class Changes;
class DataDirectory;
class Overwriting;
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
    // A redaction rebuilds a file of up to this many bytes in its commit. In a larger one a thread
    // of the store overwrites unused space, page by page.
    std::int64_t rebuilt_max = std::int64_t{128} << 20;
    // How long after other contents were deleted a thread begins to overwrite what they left.
    std::chrono::milliseconds overwrite_after{60'000};
};

class SqliteStore final : public port::DividedStore<SqliteStore>,
                          public port::DataKeyStore,
                          public port::AuditEnds,
                          public port::RemovedContents {
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
    [[nodiscard]] Result<std::vector<port::DataKeyRow>> data_keys() override;
    [[nodiscard]] Result<void> put_data_keys(std::span<port::DataKeyRow const> rows) override;
    [[nodiscard]] Result<std::vector<std::uint64_t>> audit_ends() override;
    [[nodiscard]] Result<bool> removed_contents_remain() override;
    // Returns contradictions between the feed and the sessions, and a missing end of the audit: one
    // sentence each. Reads whole tables.
    [[nodiscard]] Result<std::vector<std::string>> feed_and_audit_findings();
    [[nodiscard]] Result<void> ping() override;

private:
    friend port::DividedStore<SqliteStore>;
    // A call that runs out of memory fails with overloaded.
    template <class Ask> [[nodiscard]] auto reading(Ask ask);
    template <class Work> [[nodiscard]] Result<void> writing(Work work);

    SqliteStore(std::unique_ptr<sqlite::DataDirectory> directory,
                std::unique_ptr<sqlite::Writer> writer, std::unique_ptr<sqlite::Reader> reader,
                Epoch epoch);
    // REQUIRES: write_lock_ is locked.
    void overwrite_later();

    std::mutex write_lock_;  // of the writer: overwriting_ uses it, too
    // Constant after construction. The order matters: the thread ends first, the reader is
    // destroyed before the writer checkpoints, and the directory's lock is released last.
    std::unique_ptr<sqlite::DataDirectory> directory_;  // null: a simulated file system, or a view
    std::unique_ptr<sqlite::Writer> writer_;            // null: a view
    std::unique_ptr<sqlite::Reader> reader_;
    Epoch epoch_;
    std::unique_ptr<sqlite::Overwriting> overwriting_;  // null: as directory_
};

}  // namespace dormouse::store
