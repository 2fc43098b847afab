#include "io/clock.h"

#include "io/fd_limit.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse::io {
namespace {

TEST(SystemClock, counts_from_the_Unix_epoch_and_never_back) {
    SystemClock const clock;
    EXPECT_GT(to_ms(clock.now()), 1'600'000'000'000);
    auto last = clock.monotonic();
    for (int i = 0; i < 10'000; ++i) {
        auto const next = clock.monotonic();
        ASSERT_GE(next, last);
        last = next;
    }
}

TEST(SystemEntropy, never_repeats_itself) {
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

TEST(FdLimit, is_raised_as_far_as_it_goes) {
    auto const before = fd_limit();
    auto const after = raise_fd_limit();
    EXPECT_GE(after, before);
    EXPECT_EQ(after, fd_limit());
    EXPECT_EQ(raise_fd_limit(), after);
}

}  // namespace
}  // namespace dormouse::io
