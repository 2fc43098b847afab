// Overwriting the unused space of a file that is too large to be rebuilt.
#include "store/sqlite/writer/scrub.h"

#include "store/memory/conformance_fixture.h"
#include "store/sqlite/schema/schema.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>

namespace dormouse::store {
namespace {

using sqlite::Scrub;

constexpr char secret[] = "hunter2hunter2hunter2";

// A database whose table changes at random, like a store that works.
class ChangingFile {
public:
    explicit ChangingFile(unsigned seed) : random_(seed), writer_(directory_.connect()) {
        run("PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF");
        EXPECT_TRUE(sqlite::migrate(writer_, sqlite::migrations()));
        run("CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB); CREATE INDEX i ON t(v)");
    }
    void run(std::string const& sql) {
        auto const done = writer_.run(sql);
        EXPECT_TRUE(done) << done.error().detail;
    }
    // Contents of many sizes: in a cell, in one overflow page, in several.
    void change(std::string const& text) {
        constexpr std::array sizes{0, 20, 300, 900, 3'000, 5'000, 20'000};
        for (int i = below(30); i >= 0; --i) {
            auto const number = std::to_string(below(200));
            auto const bytes = sizes.at(static_cast<std::size_t>(below(sizes.size())));
            switch (below(4)) {
                case 0: run("DELETE FROM t WHERE k = " + number); break;
                case 1: run("PRAGMA incremental_vacuum(3)"); break;
                default:
                    run("INSERT OR REPLACE INTO t VALUES(" + number + ", CAST('" + text +
                        std::string(static_cast<std::size_t>(bytes), ' ') + text + "' AS BLOB))");
            }
        }
    }
    [[nodiscard]] std::string rows() const {
        return directory_.text("SELECT group_concat(k || ' ' || hex(v)) FROM t");
    }
    [[nodiscard]] TestDirectory const& directory() const { return directory_; }

private:
    int below(std::size_t end) { return static_cast<int>(random_() % end); }

    std::mt19937 random_;
    TestDirectory directory_;
    sqlite::Connection writer_;
};

void scrub_all(ChangingFile& file) {
    auto const scrub = Scrub::open(file.directory().path()).value();
    for (int i = 0;; ++i) {
        auto const done = scrub->step();
        ASSERT_TRUE(done) << done.error().detail;
        if (*done) return;
        if (i < 20) file.change("other");
        scrub->note();
        file.run("PRAGMA wal_checkpoint(PASSIVE)");
    }
}

TEST(Scrub, AnyFile_HasNothingThatWasDeleted) {
    int with_rest = 0;  // SQLite may have overwritten it by itself
    for (unsigned seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        ChangingFile file(seed);
        for (int i = 0; i < 3; ++i) file.change(secret);
        file.run("DELETE FROM t");
        file.change("plain");
        file.run("PRAGMA wal_checkpoint(TRUNCATE)");
        with_rest += file.directory().holds(secret) ? 1 : 0;
        ASSERT_NO_FATAL_FAILURE(scrub_all(file));
        auto const rows = file.rows();
        file.run("PRAGMA wal_checkpoint(TRUNCATE)");
        EXPECT_FALSE(file.directory().holds("hunter2"));
        EXPECT_EQ(file.directory().text("PRAGMA integrity_check"), "ok");
        EXPECT_EQ(file.rows(), rows);
    }
    EXPECT_GT(with_rest, 10);
}

// The store with a small limit, in a file that is larger.
class OverwritingTest : public testing::Test {
protected:
    static SqliteOptions options() { return {.busy_timeout_ms = 100, .rebuilt_max = 1 << 20}; }
    void open() { store_ = SqliteStore::open(directory_.path(), options()).value(); }
    void commit(port::Append const& one) {
        auto const results = store_->commit({&one, 1});
        ASSERT_TRUE(results[0]) << results[0].error().detail;
    }
    // A session with the secret, and another one that fills the file.
    void fill() {
        for (Seq seq = 0; seq < 40; ++seq) {
            auto one = seq == 0 ? create(1, "acme") : append(1, seq);
            one.frame.bytes = std::string("[\"") + secret + std::to_string(seq) + "\"]";
            one.snapshot =
                port::SnapshotRow{seq + 1, 1, std::string(200 * (40 - seq), ' ') + secret};
            commit(one);
        }
        for (Seq seq = 0; seq < 40; ++seq) {
            auto one = seq == 0 ? create(2, "acme") : append(2, seq);
            one.artifacts = {{seq + 1, std::make_shared<std::string>(100'000, 'x')}};
            commit(one);
        }
        ASSERT_GT(std::filesystem::file_size(directory_.file()), options().rebuilt_max);
    }
    static port::Append redaction() {
        auto out = append(1, 40);
        out.rewrite.emplace();
        for (Seq seq = 1; seq <= 40; ++seq) out.rewrite->frames.push_back({seq, 1, "[]"});
        out.snapshot = port::SnapshotRow{41, 1, "state"};
        return out;
    }
    [[nodiscard]] bool is_due() const {
        return directory_.text("SELECT count(*) FROM meta WHERE name = 'overwrite'") == "1";
    }
    void wait_until_done() const {
        while (is_due()) std::this_thread::yield();
    }

    TestDirectory directory_;
    std::unique_ptr<SqliteStore> store_;
};

TEST_F(OverwritingTest, FileAboveTheLimit_HasNothingThatWasRemoved) {
    open();
    fill();
    ASSERT_TRUE(directory_.holds(secret));
    commit(redaction());
    wait_until_done();
    EXPECT_FALSE(directory_.holds("hunter2"));
    EXPECT_EQ(store_->page(session(1), 1, 1'000'000).value().size(), 41U);
    EXPECT_EQ(directory_.text("PRAGMA integrity_check"), "ok");
    commit(append(1, 41));
}

TEST_F(OverwritingTest, StoreWritesMeanwhile_AndSecondRedactionIsDoneToo) {
    open();
    fill();
    commit(redaction());
    for (Seq seq = 40; seq < 80; ++seq) {
        auto one = append(2, seq);
        one.frame.bytes = std::string("[\"") + secret + "\"]";
        one.snapshot = port::SnapshotRow{seq + 1, 1, std::string(300, ' ') + secret};
        commit(one);
    }
    auto second = append(2, 80);
    second.rewrite.emplace();
    for (Seq seq = 41; seq <= 80; ++seq) second.rewrite->frames.push_back({seq, 1, "[]"});
    second.snapshot = port::SnapshotRow{81, 1, "state"};
    commit(second);
    wait_until_done();
    EXPECT_FALSE(directory_.holds("hunter2"));
    EXPECT_EQ(directory_.text("PRAGMA integrity_check"), "ok");
}

TEST_F(OverwritingTest, CutOffByACrash_IsFinishedByTheNextOpen) {
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        open();
        fill();
        // A reader keeps the log, so it cannot be finished.
        auto reader = directory_.connect();
        std::ignore = reader.run("BEGIN; SELECT count(*) FROM journal");
        commit(redaction());
        _exit(is_due() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(directory_.holds("hunter2"));
    open();
    wait_until_done();
    EXPECT_FALSE(directory_.holds("hunter2"));
    EXPECT_EQ(store_->page(session(1), 1, 1'000'000).value().at(0).bytes, "[]");
}

// Without a commit after the reader ends.
TEST_F(OverwritingTest, ReaderThatKeepsTheLog_DelaysItOnly) {
    open();
    fill();
    {
        auto reader = directory_.connect();
        ASSERT_TRUE(reader.run("BEGIN; SELECT count(*) FROM journal"));
        commit(redaction());
        ASSERT_TRUE(is_due());
        EXPECT_TRUE(store_->removed_contents_remain().value());
    }
    wait_until_done();
    EXPECT_FALSE(store_->removed_contents_remain().value());
    EXPECT_FALSE(directory_.holds("hunter2"));
}

// Contents that are deleted without a redaction.
class RemovalTest : public OverwritingTest {
protected:
    void open_after(std::chrono::milliseconds overwrite_after,
                    std::int64_t rebuilt_max = std::int64_t{128} << 20) {
        auto chosen = options();
        chosen.rebuilt_max = rebuilt_max;
        chosen.overwrite_after = overwrite_after;
        store_ = SqliteStore::open(directory_.path(), chosen).value();
    }
    static port::Append deletion() {
        auto out = append(1, 40);
        out.erase = true;
        return out;
    }
    [[nodiscard]] bool waits() const {
        return directory_.text("SELECT count(*) FROM meta WHERE name = 'removed'") == "1";
    }
    void expect_nothing_left() const {
        EXPECT_FALSE(directory_.holds("hunter2"));
        EXPECT_EQ(directory_.text("PRAGMA integrity_check"), "ok");
    }
    static constexpr std::chrono::hours later{1};
};

TEST_F(RemovalTest, DeletedSession_HasNothingInTheFilesAfterThePass) {
    open_after(std::chrono::milliseconds(0), 1 << 20);
    fill();
    commit(deletion());
    while (waits()) std::this_thread::yield();
    expect_nothing_left();
    EXPECT_FALSE(store_->removed_contents_remain().value()) << "that is about redactions";
}

TEST_F(RemovalTest, OrderlyEnd_FinishesASmallFile) {
    open_after(later);
    fill();
    commit(deletion());
    EXPECT_TRUE(waits());
    EXPECT_TRUE(directory_.holds(secret));
    store_.reset();
    expect_nothing_left();
    EXPECT_FALSE(waits());
}

TEST_F(RemovalTest, OrderlyEnd_LeavesALargeFileToTheNextOpen) {
    open_after(later, 1 << 20);
    fill();
    commit(deletion());
    store_.reset();
    EXPECT_TRUE(waits());
    open_after(std::chrono::milliseconds(0), 1 << 20);
    while (waits()) std::this_thread::yield();
    expect_nothing_left();
}

TEST_F(RemovalTest, Crash_LeavesItToTheNextOpen) {
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        open_after(later);
        fill();
        commit(deletion());
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(directory_.holds("hunter2"));
    open_after(later);
    store_.reset();
    expect_nothing_left();
}

TEST_F(RemovalTest, RedactionMeanwhile_DoesNotWait) {
    open_after(later, 1 << 20);
    fill();
    auto other = create(3, "acme");
    other.frame.bytes = std::string("[\"") + secret + "\"]";
    commit(other);
    auto gone = append(3, 1);
    gone.erase = true;
    commit(gone);
    commit(redaction());
    wait_until_done();
    expect_nothing_left();
    EXPECT_FALSE(waits()) << "the pass of the redaction covers the deletion";
}

TEST_F(RemovalTest, FormerTurnsAndMessages_HaveNothingInTheFiles) {
    open_after(later);
    fill();
    auto cut = append(1, 40);
    cut.base = port::BaseRow{{40, 1, "[]"}, 40, 0, {}, {}};
    cut.snapshot = port::SnapshotRow{41, 1, "state"};
    port::OutboxRow sent{{session(1), 41, 0}, "webhook", "x", secret};
    sent.state = port::OutboxState::delivered;
    sent.delivered = Time{};
    cut.outbox = {sent};
    commit(cut);
    ASSERT_TRUE(store_->drop_delivered(Time{} + std::chrono::hours(1)));
    store_.reset();
    expect_nothing_left();
}

TEST_F(RemovalTest, NothingDeleted_LeavesNothingToDo) {
    open_after(later);
    fill();
    ASSERT_TRUE(store_->drop_delivered(Time{} + std::chrono::hours(1)));
    EXPECT_FALSE(waits());
}

}  // namespace
}  // namespace dormouse::store
