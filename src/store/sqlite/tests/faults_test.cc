// The store on a failing file system.
#include "store/memory/conformance_fixture.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <sqlite3.h>

#include <array>

namespace dormouse::store {
namespace {

// The faults to inject, and counts of the operations that were done.
struct Faults {
    bool log_sync_fails = false;
    bool file_sync_fails = false;
    bool disk_is_full = false;
    bool log_write_fails = false;
    int writes = 0;
};

// The system's VFS with the writes and syncs of its files replaced. The file's methods lead to the
// faults, because SQLite passes nothing else of ours to a method.
class FaultyVfs {
public:
    FaultyVfs() : real_(sqlite3_vfs_find(nullptr)) {
        vfs_ = *real_;
        vfs_.zName = "faulty";
        vfs_.pAppData = this;
        vfs_.xOpen = &FaultyVfs::open;
        sqlite3_vfs_register(&vfs_, 0);
    }
    ~FaultyVfs() { sqlite3_vfs_unregister(&vfs_); }
    FaultyVfs(FaultyVfs const&) = delete;
    FaultyVfs& operator=(FaultyVfs const&) = delete;

    Faults faults;

private:
    struct Methods {
        sqlite3_io_methods methods;  // first member: a file's pMethods points here
        sqlite3_io_methods const* real;
        Faults* faults;
        bool log;
    };

    static int open(sqlite3_vfs* vfs, char const* name, sqlite3_file* file, int flags,
                    int* out_flags) {
        auto& self = *static_cast<FaultyVfs*>(vfs->pAppData);
        int const rc = self.real_->xOpen(self.real_, name, file, flags, out_flags);
        // Files of other kinds keep their own methods.
        if (rc != SQLITE_OK || (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_DB)) == 0) return rc;
        bool const log = (flags & SQLITE_OPEN_WAL) != 0;
        auto& methods = self.methods_[log ? 1 : 0];
        methods = {*file->pMethods, file->pMethods, &self.faults, log};
        methods.methods.xWrite = &FaultyVfs::write;
        methods.methods.xSync = &FaultyVfs::sync;
        file->pMethods = &methods.methods;
        return rc;
    }

    static Methods const& of(sqlite3_file* file) {
        return *reinterpret_cast<Methods const*>(file->pMethods);
    }

    static int write(sqlite3_file* file, void const* data, int size, sqlite3_int64 offset) {
        if (of(file).faults->disk_is_full) return SQLITE_FULL;
        if (of(file).log && of(file).faults->log_write_fails) return SQLITE_IOERR_WRITE;
        ++of(file).faults->writes;
        return of(file).real->xWrite(file, data, size, offset);
    }

    static int sync(sqlite3_file* file, int flags) {
        auto const& [methods, real, faults, log] = of(file);
        if (log ? faults->log_sync_fails : faults->file_sync_fails) return SQLITE_IOERR_FSYNC;
        return real->xSync(file, flags);
    }

    sqlite3_vfs* real_;
    sqlite3_vfs vfs_{};
    std::array<Methods, 2> methods_{};  // of the file, of the log
};

class FaultyStore : public testing::Test {
protected:
    FaultyStore() { reopen(); }

    void reopen() {
        store_.reset();
        SqliteOptions options;
        options.vfs = "faulty";
        auto opened = SqliteStore::open(directory_.path(), options);
        ASSERT_TRUE(opened) << opened.error().detail;
        store_ = std::move(*opened);
    }
    [[nodiscard]] std::optional<Code> commit(port::Append const& one) {
        return code(store_->commit({&one, 1})[0]);
    }
    [[nodiscard]] std::size_t events(std::uint64_t number) {
        return store_->load(session(number)).value().tail.size();
    }

    TestDirectory directory_;
    FaultyVfs vfs_;
    Faults& faults_ = vfs_.faults;
    std::unique_ptr<SqliteStore> store_;
};

TEST_F(FaultyStore, FailedSync_StopsWritesUntilReopened) {
    ASSERT_EQ(commit(create(1, "acme")), std::nullopt);
    faults_.log_sync_fails = true;
    std::vector<port::Append> const batch{append(1, 1), create(2, "acme")};
    auto const results = store_->commit(batch);
    EXPECT_EQ(code(results[0]), Code::fail_stop);
    EXPECT_EQ(code(results[1]), Code::fail_stop);

    faults_.log_sync_fails = false;
    auto const writes = faults_.writes;
    EXPECT_EQ(commit(create(3, "acme")), Code::fail_stop)
        << "a later successful sync proves nothing";
    EXPECT_EQ(code(store_->ping()), Code::fail_stop);
    EXPECT_EQ(events(1), 1u) << "what is durable can still be read";
    store_.reset();
    EXPECT_EQ(faults_.writes, writes) << "closing writes nothing either";

    reopen();
    auto const whole = store_->load(session(2)).value().row ? 2u : 1u;
    EXPECT_EQ(events(1), whole)
        << "the batch of unknown outcome is stored completely or not at all";
    EXPECT_FALSE(store_->load(session(3)).value().row);
    EXPECT_EQ(commit(create(3, "acme")), std::nullopt);
}

// It is unknown whether the log has the batch or a part of it, until the store is opened again.
TEST_F(FaultyStore, FailedLogWriteInCommit_StopsTheStore) {
    ASSERT_EQ(commit(create(1, "acme")), std::nullopt);
    faults_.log_write_fails = true;
    EXPECT_EQ(commit(append(1, 1)), Code::fail_stop);
    faults_.log_write_fails = false;
    EXPECT_EQ(commit(append(1, 1)), Code::fail_stop);
    reopen();
    EXPECT_EQ(commit(append(1, events(1))), std::nullopt);
}

TEST_F(FaultyStore, FullDisk_RefusesBatches_ContinuesWhenThereIsSpace) {
    ASSERT_EQ(commit(create(1, "acme")), std::nullopt);
    faults_.disk_is_full = true;
    std::vector<port::Append> const batch{append(1, 1), create(2, "acme")};
    for (int attempt = 0; attempt < 3; ++attempt) {
        auto const results = store_->commit(batch);
        EXPECT_EQ(code(results[0]), Code::store_full);
        EXPECT_EQ(code(results[1]), Code::store_full);
    }
    EXPECT_EQ(events(1), 1u);
    EXPECT_EQ(store_->next_session_number(), 2u);
    EXPECT_EQ(code(store_->ping()), Code::store_full) << "readiness says so";
    faults_.disk_is_full = false;
    auto const results = store_->commit(batch);
    EXPECT_TRUE(store_->ping());
    EXPECT_TRUE(results[0]);
    EXPECT_TRUE(results[1]);
    EXPECT_EQ(events(1), 2u);
}

TEST_F(FaultyStore, DiskFullInTransaction_ChangesNothing) {
    ASSERT_EQ(commit(create(1, "acme")), std::nullopt);
    // Larger than the page cache: pages reach the log before the commit.
    auto big = append(1, 1);
    big.frame.bytes = std::string(40'000'000, 'x');
    faults_.disk_is_full = true;
    EXPECT_EQ(commit(big), Code::store_full);
    faults_.disk_is_full = false;
    EXPECT_EQ(events(1), 1u);
    EXPECT_EQ(commit(append(1, 1)), std::nullopt);
    reopen();
    EXPECT_EQ(events(1), 2u);
}

TEST_F(FaultyStore, FailedSyncOfTheFile_StopsTheStore) {
    ASSERT_EQ(commit(create(1, "acme")), std::nullopt);
    faults_.file_sync_fails = true;
    auto big = append(1, 1);
    big.frame.bytes =
        std::string(8'000'000, 'x');  // more than the log may hold before a checkpoint
    EXPECT_EQ(commit(big), std::nullopt) << "it is durable in the log";
    faults_.file_sync_fails = false;
    EXPECT_EQ(commit(append(1, 2)), Code::fail_stop);
    reopen();
    EXPECT_EQ(events(1), 2u);
    EXPECT_EQ(commit(append(1, 2)), std::nullopt);
}

}  // namespace
}  // namespace dormouse::store
