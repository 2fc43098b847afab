#include "store/sqlite/changes.h"

#include "store/sqlite/schema/schema.h"
#include "store/sqlite/tests/test_directory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <utility>

namespace dormouse::store::sqlite {
namespace {

constexpr std::size_t page = 4'096;

// A database with the tables that a cut reads, and a copy of it that is made of cuts alone.
class ChangesTest : public ::testing::Test {
protected:
    ChangesTest() {
        run(writer_,
            "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
            "PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=0");
        EXPECT_TRUE(migrate(writer_, migrations()));
        run(writer_, "CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB)");
        EXPECT_TRUE(changes_.open(directory_.path()));
    }

    Connection open() {
        auto out = Connection::open(directory_.path() / "dormouse.db",
                                    {.cache_kib = 100, .busy_timeout_ms = 1'000, .vfs = {}});
        EXPECT_TRUE(out);
        return *std::move(out);
    }
    static void run(Connection& connection, std::string const& sql) {
        auto const done = connection.run(sql);
        EXPECT_TRUE(done) << done.error().detail;
    }
    void put(int key, int bytes) {
        run(writer_, "INSERT OR REPLACE INTO t VALUES(" + std::to_string(key) + ", randomblob(" +
                         std::to_string(bytes) + "))");
    }
    void checkpoint() {
        changes_.note();
        run(writer_, "PRAGMA wal_checkpoint(PASSIVE)");
    }
    std::size_t cut(std::size_t most = 1'000'000) {
        auto const one = changes_.cut(most);
        EXPECT_TRUE(one) << one.error().detail;
        if (!one) return 0;
        for (std::size_t i = 0; i < one->pages.size(); ++i) {
            if (copy_.size() < one->pages[i] * page) copy_.resize(one->pages[i] * page);
            copy_.replace((one->pages[i] - 1) * page, page, one->content, i * page, page);
        }
        complete_ = one->complete;
        copy_.resize(std::size_t{one->page_count} * page);
        return one->pages.size();
    }
    std::string all_rows(Connection& of) {
        return of.text("SELECT group_concat(k || hex(v)) FROM (SELECT * FROM t ORDER BY k)")
            .value_or("unreadable");
    }
    // Returns what another program would read from the copy.
    std::string copied_rows() {
        TestDirectory other;
        std::ofstream(other.path() / "dormouse.db", std::ios::binary) << copy_;
        auto opened = Connection::open(other.path() / "dormouse.db", {});
        EXPECT_TRUE(opened);
        EXPECT_EQ(opened->text("PRAGMA integrity_check").value_or(""), "ok");
        return all_rows(*opened);
    }

    TestDirectory directory_;
    Connection writer_ = open();
    Changes changes_;
    std::string copy_;
    bool complete_ = false;
};

TEST_F(ChangesTest, FirstCut_IsTheWholeDatabase) {
    for (int i = 0; i < 50; ++i) put(i, 3'000);
    EXPECT_GT(cut(), 40U);
    EXPECT_TRUE(complete_);
    EXPECT_EQ(copied_rows(), all_rows(writer_));
    EXPECT_EQ(cut(), 0U) << "nothing has changed";
    EXPECT_TRUE(complete_);
}

TEST_F(ChangesTest, LaterCut_HasOnlyWhatChanged) {
    for (int i = 0; i < 500; ++i) put(i, 3'000);
    EXPECT_GT(cut(), 400U);
    put(250, 3'000);
    EXPECT_LT(cut(), 6U);
    EXPECT_EQ(copied_rows(), all_rows(writer_));
}

TEST_F(ChangesTest, LogThatBeganAgainAfterANote_LosesNothing) {
    for (int i = 0; i < 500; ++i) put(i, 3'000);
    cut();
    for (int round = 0; round < 3; ++round) {
        put(round, 2'000);
        checkpoint();
        put(100 + round, 2'000);
    }
    EXPECT_LT(cut(), 30U);
    EXPECT_EQ(copied_rows(), all_rows(writer_));
}

TEST_F(ChangesTest, LogThatBeganAgainUnnoted_ChangesEveryPage) {
    for (int i = 0; i < 500; ++i) put(i, 3'000);
    cut();
    auto other = open();
    run(other,
        "PRAGMA wal_autocheckpoint=0; UPDATE t SET v = 'x' WHERE k = 7;"
        "PRAGMA wal_checkpoint(PASSIVE); UPDATE t SET v = 'y' WHERE k = 400");
    EXPECT_GT(cut(), 400U);
    EXPECT_EQ(copied_rows(), all_rows(writer_));
}

TEST_F(ChangesTest, AnotherProgramThatWrites_IsNoted) {
    for (int i = 0; i < 500; ++i) put(i, 3'000);
    cut();
    auto other = open();
    run(other, "PRAGMA wal_autocheckpoint=0; UPDATE t SET v = 'x' WHERE k = 7");
    put(8, 100);
    EXPECT_LT(cut(), 10U);
    EXPECT_EQ(copied_rows(), all_rows(writer_));
}

TEST_F(ChangesTest, SmallCuts_AreOneStateWhenComplete) {
    for (int i = 0; i < 200; ++i) put(i, 3'000);
    int rounds = 0;
    for (complete_ = false; !complete_ && rounds < 100; ++rounds) {
        EXPECT_LE(cut(10), 10U);
        put(rounds % 7, 1'000);
    }
    EXPECT_GT(rounds, 15);
    while (cut(10) > 0) {}
    EXPECT_EQ(copied_rows(), all_rows(writer_));
}

TEST_F(ChangesTest, RandomWritesAndCheckpoints_CompleteCutsAreTheDatabase) {
    std::mt19937 random(21);
    auto const below = [&](std::uint32_t n) { return static_cast<int>(random() % n); };
    auto other = open();
    run(other, "PRAGMA wal_autocheckpoint=0");
    int compared = 0;
    for (int step = 0; step < 1'500; ++step) {
        int const what = below(100);
        if (what < 70) put(below(200), below(9'000));
        if (what >= 70 && what < 75) run(writer_, "DELETE FROM t WHERE k % 5 = 1");
        if (what >= 75 && what < 80)
            run(other, "DELETE FROM t WHERE k = " + std::to_string(below(200)));
        if (what >= 80 && what < 85) checkpoint();
        if (what == 85) run(other, "PRAGMA wal_checkpoint(PASSIVE)");
        if (what == 87) run(other, "PRAGMA incremental_vacuum(5)");
        if (what == 86) run(writer_, "BEGIN; DELETE FROM t WHERE k < 90; ROLLBACK");
        if (what >= 90) cut(static_cast<std::size_t>(1 + below(60)));
        if (what < 98 || !complete_) continue;
        ASSERT_EQ(copied_rows(), all_rows(writer_)) << step;
        ++compared;
    }
    EXPECT_GT(compared, 5);
}

}  // namespace
}  // namespace dormouse::store::sqlite
