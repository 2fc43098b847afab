#include "runner/lane/journal_writer.h"

#include "runner/testing/world.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace dormouse::runner {
namespace {

using TestJournal = testing::TestJournal<store::MemoryStore, store::MemoryDisk>;
using testing::TestLoop;

// The first append of a new session.
port::Append append_of(std::uint64_t number) {
    port::Append append;
    append.session = SessionId::make(number, {});
    append.frame = {1, 1, "x"};
    append.row = port::SessionRow{append.session, "default", "demo", "", "", "active", {}, {}};
    return append;
}

class JournalWriterTest : public ::testing::Test {
protected:
    void append(std::uint64_t number) {
        writer.append(append_of(number), [this, number](port::AppendResult durable) {
            done.push_back(number);
            if (!durable) failed.push_back(number);
        });
    }

    TestLoop loop;
    TestJournal journal{loop};
    JournalWriter writer{loop, journal};
    std::vector<std::uint64_t> done, failed;
};

TEST_F(JournalWriterTest, AppendsOfOneLoopTurn_AreOneCommitInOrder) {
    append(1);
    append(2);
    append(3);
    EXPECT_TRUE(journal.commits.empty());  // not before the loop iteration ends
    EXPECT_FALSE(writer.idle());
    loop.run();
    EXPECT_EQ(journal.commits, std::vector<std::size_t>{3});
    EXPECT_EQ(done, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_TRUE(failed.empty());
    EXPECT_TRUE(writer.idle());
    EXPECT_EQ(writer.commits(), 1U);
    EXPECT_EQ(writer.appends(), 3U);
}

TEST_F(JournalWriterTest, AppendsDuringACommit_FormTheNextOne) {
    journal.hold = true;
    append(1);
    loop.run();
    append(2);
    append(3);
    loop.run();
    EXPECT_EQ(journal.held(), 1U);
    EXPECT_TRUE(done.empty());
    journal.release();
    EXPECT_EQ(done, std::vector<std::uint64_t>{1});
    EXPECT_EQ(journal.held(), 1U);
    journal.release();
    EXPECT_EQ(journal.commits, (std::vector<std::size_t>{1, 2}));
    EXPECT_EQ(done, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(journal.most_in_flight, 1);
}

TEST_F(JournalWriterTest, ManyAppends_AreSplitIntoBatches) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t number = 1; number <= 600; ++number) {
        append(number);
        all.push_back(number);
    }
    loop.run();
    EXPECT_EQ(journal.commits, (std::vector<std::size_t>{256, 256, 88}));
    EXPECT_EQ(done, all);
    EXPECT_EQ(journal.most_in_flight, 1);
}

TEST_F(JournalWriterTest, FailedAppend_DoesNotAffectOthers) {
    append(1);
    append(1);  // the session already exists
    append(2);
    loop.run();
    EXPECT_EQ(done, (std::vector<std::uint64_t>{1, 1, 2}));
    EXPECT_EQ(failed, std::vector<std::uint64_t>{1});
}

TEST_F(JournalWriterTest, Failure_NextCommitWorks) {
    journal.fault = testing::Fault::lost;
    append(1);
    append(2);
    loop.run();
    EXPECT_EQ(failed, (std::vector<std::uint64_t>{1, 2}));
    append(3);
    loop.run();
    EXPECT_EQ(done, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(failed.size(), 2U);
}

TEST_F(JournalWriterTest, AppendFromACallback_IsCommitted) {
    writer.append(append_of(1), [this](port::AppendResult const&) { append(2); });
    loop.run();
    EXPECT_EQ(done, std::vector<std::uint64_t>{2});
    EXPECT_TRUE(writer.idle());
}

TEST_F(JournalWriterTest, WriterEnded_AppendsWait_NothingIsCommitted) {
    auto other = std::make_unique<JournalWriter>(loop, journal);
    other->append(append_of(1), [this](port::AppendResult const&) { done.push_back(1); });
    other.reset();
    loop.run();
    EXPECT_TRUE(journal.commits.empty());
    EXPECT_TRUE(done.empty());
}

}  // namespace
}  // namespace dormouse::runner
