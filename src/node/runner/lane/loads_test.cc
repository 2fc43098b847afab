#include "runner/lane/loads.h"

#include "runner/testing/world.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace dormouse::runner {
namespace {

using MemoryJournal = testing::TestJournal<store::MemoryStore, store::MemoryDisk, true>;

class LoadsTest : public ::testing::Test {
protected:
    void read(std::uint64_t number) {
        loads.read({SessionId::make(number, {})}, [this, number](auto const& read) {
            EXPECT_EQ(read.value().state.id.number(), number);
            EXPECT_EQ(read.value().state.lifecycle, session::Lifecycle::none);
            answered.push_back(number);
        });
    }

    testing::TestLoop loop;
    MemoryJournal journal{loop};
    Loads loads{loop, journal, true};
    std::vector<std::uint64_t> answered;
};

TEST_F(LoadsTest, SessionsOfOneLoopTurn_AreOneQuery) {
    for (std::uint64_t const number : {3, 1, 2}) read(number);
    EXPECT_TRUE(answered.empty());
    loop.run();
    EXPECT_EQ(answered, (std::vector<std::uint64_t>{3, 1, 2}));
    EXPECT_EQ(journal.reads, 1);
    read(4);
    loop.run();
    EXPECT_EQ(journal.reads, 2);
}

TEST_F(LoadsTest, TwoQueriesAreUnderWay_TheNextWaitsAndIsOneForAll) {
    journal.hold_reads = true;
    for (std::uint64_t number = 1; number <= 9; ++number) {
        read(number);
        loop.run();
    }
    EXPECT_EQ(journal.reads, 2) << "a large session holds up only one of them";
    journal.release_reads();
    EXPECT_EQ(journal.reads, 3);
    EXPECT_EQ(answered.size(), 9U);
}

TEST_F(LoadsTest, ManySessions_AreReadInParts) {
    for (std::uint64_t number = 1; number <= 5 * Loads::at_once; ++number) read(number);
    loop.run();
    EXPECT_EQ(journal.reads, 5);
    EXPECT_EQ(answered.size(), 5 * Loads::at_once);
}

TEST_F(LoadsTest, NobodyElseAppends_EachIsReadAlone) {
    Loads alone(loop, journal, false);
    int count = 0;
    for (std::uint64_t const number : {1, 2})
        alone.read({SessionId::make(number, {})}, [&](auto const&) { ++count; });
    EXPECT_EQ(journal.reads, 2) << "at once, because threads of a local store wait for nobody";
    loop.run();
    EXPECT_EQ(count, 2);
}

// An answer may end the runner.
TEST_F(LoadsTest, EndsWithinAnAnswer_OthersAreNotCalled) {
    auto ending = std::make_unique<Loads>(loop, journal, true);
    int count = 0;
    for (std::uint64_t const number : {1, 2})
        ending->read({SessionId::make(number, {})}, [&](auto const&) {
            ++count;
            ending.reset();
        });
    loop.run();
    EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace dormouse::runner
