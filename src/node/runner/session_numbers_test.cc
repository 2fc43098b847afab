#include "runner/session_numbers.h"

#include "runner/testing/world.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse::runner {
namespace {

class SessionNumbersTest : public ::testing::Test {
protected:
    SessionNumbers shared() {
        return {loop, {256, 256}, [this](auto answer) { requests.push_back(std::move(answer)); }};
    }
    // Answers all questions with blocks in order.
    void answer() {
        while (!requests.empty()) {
            auto waiting = std::exchange(requests, {});
            for (auto& one : waiting) one(port::NumberBlock{block++ << 8, 256});
            loop.run();
        }
    }

    static constexpr std::uint64_t theirs = 600;  // a session's number at another process

    testing::TestLoop loop;
    std::vector<port::Fn<void(Result<port::NumberBlock>)>> requests;
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
    ASSERT_EQ(requests.size(), 1U) << "one question at a time";
    std::exchange(requests, {})[0](fail(Code::store_unavailable, "away"));
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
    EXPECT_TRUE(requests.empty());
}

TEST_F(SessionNumbersTest, BothMakeSessions_OneBlockEachTime) {
    auto numbers = shared();
    loop.run();
    block = 3;
    numbers.seen(theirs);
    answer();
    for (std::uint64_t number = 1'100; number < 1'200; ++number) numbers.seen(number);
    EXPECT_TRUE(requests.empty()) << "renewed a moment ago";
    block = 5;
    loop.advance(SessionNumbers::renew_every);
    EXPECT_EQ(requests.size(), 1U);
    answer();
    EXPECT_EQ(numbers.next(), 1'280U);
    loop.advance(SessionNumbers::renew_every);
    EXPECT_TRUE(requests.empty()) << "nobody made one since";
}

TEST_F(SessionNumbersTest, NewBlockCannotBeHad_OldOneServesAndItIsAskedAgain) {
    auto numbers = shared();
    loop.run();
    numbers.seen(theirs);
    ASSERT_EQ(requests.size(), 1U);
    std::exchange(requests, {})[0](fail(Code::store_unavailable, "away"));
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
