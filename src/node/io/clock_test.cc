#include "io/clock.h"

#include "io/process/fd_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <vector>

namespace dormouse::io {
namespace {

TEST(SystemClock, Clock_CountsForwardFromTheUnixEpoch) {
    SystemClock const clock;
    EXPECT_GT(to_ms(clock.now()), 1'600'000'000'000);
    auto last = clock.monotonic();
    for (int i = 0; i < 10'000; ++i) {
        auto const next = clock.monotonic();
        ASSERT_GE(next, last);
        last = next;
    }
}

TEST(MovableClock, FollowedClock_IsTheWallTime) {
    constexpr Duration hour{3'600'000};
    MovableClock clock;
    SystemClock const machine;
    auto const own = clock.now();
    EXPECT_LT(own - machine.now(), hour);
    auto const other = from_ms(1'000'000'000'000);
    clock.follow(other - boot_time());
    auto const followed = clock.now();
    EXPECT_GE(followed, other - Duration(1));
    EXPECT_LT(followed, other + hour);
    clock.advance(hour);
    EXPECT_GE(clock.now(), other + hour - Duration(1));
    clock.follow(other + 3 * hour - boot_time());
    EXPECT_GE(clock.now(), other + 4 * hour - Duration(1)) << "stays moved";
    EXPECT_LT(clock.now(), other + 5 * hour);
    EXPECT_LT(clock.monotonic() - machine.monotonic(), 2 * hour) << "only moved";
}

TEST(SystemEntropy, Values_NeverRepeat) {
    SystemEntropy first;
    SystemEntropy second;
    std::set<Random> seen;
    for (int i = 0; i < 1'000; ++i) {  // several times its buffer
        seen.insert(first.random());
        seen.insert(second.random());
    }
    EXPECT_EQ(seen.size(), 2'000U);
    EXPECT_FALSE(seen.contains(Random{}));
}

// Ids and secrets are made of it: no value may occur twice in a million, and each bit must be set
// half of the time (within six standard deviations).
TEST(SystemEntropy, Values_HaveNoBias) {
    constexpr int draws = 1'000'000;
    SystemEntropy entropy;
    std::array<int, 256> set{};
    std::vector<std::uint64_t> beginnings;
    beginnings.reserve(draws);
    for (int i = 0; i < draws; ++i) {
        Random const random = entropy.random();
        beginnings.push_back(std::bit_cast<std::array<std::uint64_t, 4>>(random)[0]);
        for (std::size_t bit = 0; bit < set.size(); ++bit)
            set[bit] += random[bit / 8] >> (bit % 8) & 1;
    }
    std::ranges::sort(beginnings);
    EXPECT_EQ(std::ranges::adjacent_find(beginnings), beginnings.end());
    for (int const times : set) EXPECT_NEAR(times, draws / 2, 3'000);
}

TEST(FdLimit, SoftLimit_IsRaisedToTheHardLimit) {
    auto const before = fd_limit();
    auto const after = raise_fd_limit();
    EXPECT_GE(after, before);
    EXPECT_EQ(after, fd_limit());
    EXPECT_EQ(raise_fd_limit(), after);
}

}  // namespace
}  // namespace dormouse::io
