#include "store/sqlite/snapshot.h"

#include "store/sqlite/schema/schema.h"
#include "store/sqlite/tests/test_directory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <tuple>

namespace dormouse::store::sqlite {
namespace {

constexpr char const* rows_query =
    "SELECT coalesce(group_concat(k || ':' || hex(v)), '') FROM (SELECT * FROM t ORDER BY k)";

// A database with the tables that a snapshot reads, and one that changes.
class SnapshotTest : public ::testing::Test {
protected:
    SnapshotTest() {
        run("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
            "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0");
        EXPECT_TRUE(migrate(writer_, migrations()));
        run("CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)");
    }

    void run(std::string const& sql) {
        auto const done = writer_.run(sql);
        EXPECT_TRUE(done) << done.error().detail;
    }
    void put(unsigned key, unsigned bytes) {
        run("INSERT OR REPLACE INTO t VALUES(" + std::to_string(key) + ", randomblob(" +
            std::to_string(bytes) + "))");
    }
    std::string rows() { return writer_.text(rows_query).value(); }

    unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }
    // A change, or another way for pages from the log to the file.
    void change() {
        unsigned const key = below(200);
        switch (below(8)) {
            case 0: return run("DELETE FROM t WHERE k % 7 = " + std::to_string(key % 7));
            case 1: return run("PRAGMA incremental_vacuum(20)");
            case 2: return run("PRAGMA wal_checkpoint(PASSIVE)");
            case 3: return checkpoint_whole();
            default: return put(key, below(20'000));
        }
    }
    // With a snapshot open it fails, and copies what it can.
    void checkpoint_whole() {
        run("PRAGMA busy_timeout=0");
        std::ignore = writer_.run("PRAGMA wal_checkpoint(TRUNCATE)");
        run("PRAGMA busy_timeout=1000");
    }

    std::unique_ptr<Snapshot> open() { return Snapshot::open(directory_.path()).value(); }
    // Returns the bytes that one call gives.
    std::string part(Snapshot& from, std::size_t bytes) {
        std::string out(bytes, '\0');
        out.resize(from.read(out).value());
        return out;
    }
    std::string whole(Snapshot& from) {
        std::string out;
        while (true) {
            std::string const more = part(from, 300'000);
            if (more.empty()) return out;
            out += more;
        }
    }
    // What SQLite reads of a database that nothing changes meanwhile.
    std::string pages() {
        std::string out;
        auto const all = writer_.texts("SELECT data FROM sqlite_dbpage('main')").value();
        for (std::string const& one : all) out += one;
        return out;
    }

    TestDirectory directory_;
    Connection writer_ = directory_.connect();
    std::mt19937 random_{7};
};

void expect_database(std::string const& bytes, std::string const& rows) {
    TestDirectory const copy;
    std::ofstream(copy.file(), std::ios::binary) << bytes;
    EXPECT_EQ(copy.text("PRAGMA integrity_check"), "ok");
    EXPECT_EQ(copy.text(rows_query), rows);
}

TEST_F(SnapshotTest, PagesInTheLogAndInTheFile_AreThoseThatSqliteReads) {
    for (unsigned key = 0; key < 100; ++key) put(key, 9'000);
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    EXPECT_TRUE(whole(*open()) == pages());
    for (unsigned key = 40; key < 140; key += 9) put(key, 5'000);
    EXPECT_TRUE(whole(*open()) == pages());
    run("PRAGMA wal_checkpoint(PASSIVE)");
    put(3, 100);
    EXPECT_TRUE(whole(*open()) == pages());
}

TEST_F(SnapshotTest, DatabaseWithoutALog_IsWhatSqliteReads) {
    for (unsigned key = 0; key < 100; ++key) put(key, 9'000);
    run("PRAGMA journal_mode=DELETE");
    EXPECT_TRUE(whole(*open()) == pages());
}

TEST_F(SnapshotTest, ChangesAndCheckpointsMeanwhile_GiveTheStateAtTheStart) {
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 30; ++i) change();
        auto const snapshot = open();
        std::string const before = rows();
        std::string bytes;
        while (true) {
            std::string const more = part(*snapshot, 4'096 * (1 + below(40)) + below(9));
            if (more.empty()) break;
            bytes += more;
            change();
        }
        expect_database(bytes, before);
        if (HasFailure()) FAIL() << "round " << round;
    }
}

}  // namespace
}  // namespace dormouse::store::sqlite
