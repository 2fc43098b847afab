#include "runner/session_numbers.h"

#include "runner/testing/world.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse::runner {
namespace {

class SessionNumbersTest : public ::testing::Test {
protected:
    SessionNumbers shared() {
        return {loop, {256, 256}, [this](auto answer) { asked.push_back(std::move(answer)); }};
    }
    // Answers all questions with blocks in order.
    void answer() {
        while (!asked.empty()) {
            auto waiting = std::exchange(asked, {});
            for (auto& one : waiting) one(port::NumberBlock{block++ << 8, 256});
            loop.run();
        }
    }

    static constexpr std::uint64_t theirs = 600;  // a session's number at another process

    testing::TestLoop loop;
    std::vector<port::Fn<void(Result<port::NumberBlock>)>> asked;
    std::uint64_t block = 2;
};

TEST_F(SessionNumbersTest, LocalStore_CountsOn) {
    SessionNumbers numbers(loop, {7, 0}, {});
    for (std::uint64_t i = 7; i < 2'000; ++i) {
        EXPECT_EQ(numbers.next(), i);
        numbers.take(1);
    }
}

TEST_F(SessionNumbersTest, Blocks_AreFetchedAheadAndNoNumberIsUsedTwice) {
    auto numbers = shared();
    loop.run();
    answer();
    std::set<std::uint64_t> used;
    for (int i = 0; i < 5'000; ++i) {
        ASSERT_NE(numbers.next(), 0U) << i;
        EXPECT_TRUE(used.insert(numbers.next()).second) << i;
        numbers.take(1);
        answer();
    }
}

TEST_F(SessionNumbersTest, StoreAway_NumbersRunOutAndComeBack) {
    auto numbers = shared();
    loop.run();
    while (numbers.next() != 0) numbers.take(1);
    ASSERT_EQ(asked.size(), 1U) << "one question at a time";
    std::exchange(asked, {})[0](fail(Code::store_unavailable, "away"));
    EXPECT_EQ(numbers.next(), 0U);
    loop.advance(Duration(1'000));
    answer();
    EXPECT_EQ(numbers.next(), 512U);
}

TEST_F(SessionNumbersTest, AnotherProcessMadeANewerSession_NewBlock) {
    auto numbers = shared();
    loop.run();
    numbers.take(1);
    block = 3;
    numbers.seen(theirs);
    EXPECT_EQ(numbers.next(), 257U) << "until the new one is there";
    answer();
    EXPECT_EQ(numbers.next(), 768U);
}

TEST_F(SessionNumbersTest, AnotherProcessMadeAnOlderSession_KeepsItsBlock) {
    auto numbers = shared();
    loop.run();
    numbers.seen(255);
    EXPECT_TRUE(asked.empty());
}

TEST_F(SessionNumbersTest, BothMakeSessions_OneBlockEachTime) {
    auto numbers = shared();
    loop.run();
    block = 3;
    numbers.seen(theirs);
    answer();
    for (std::uint64_t number = 1'100; number < 1'200; ++number) numbers.seen(number);
    EXPECT_TRUE(asked.empty()) << "renewed a moment ago";
    block = 5;
    loop.advance(SessionNumbers::renew_every);
    EXPECT_EQ(asked.size(), 1U);
    answer();
    EXPECT_EQ(numbers.next(), 1'280U);
    loop.advance(SessionNumbers::renew_every);
    EXPECT_TRUE(asked.empty()) << "nobody made one since";
}

TEST_F(SessionNumbersTest, NewBlockCannotBeHad_OldOneServesAndItIsAskedAgain) {
    auto numbers = shared();
    loop.run();
    numbers.seen(theirs);
    ASSERT_EQ(asked.size(), 1U);
    std::exchange(asked, {})[0](fail(Code::store_unavailable, "away"));
    EXPECT_EQ(numbers.next(), 256U);
    block = 3;
    loop.advance(Duration(1'000));
    answer();
    EXPECT_EQ(numbers.next(), 768U);
}

TEST_F(SessionNumbersTest, LocalStore_SeesNobody) {
    SessionNumbers numbers(loop, {7, 0}, {});
    numbers.seen(theirs);
    EXPECT_EQ(numbers.next(), 7U);
}

}  // namespace
}  // namespace dormouse::runner
