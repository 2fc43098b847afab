#include "runner/store_clock.h"

#include <gtest/gtest.h>

namespace dormouse::runner {
namespace {

constexpr auto at_zero = from_ms(1'800'000'000'000);

class StoreClockTest : public ::testing::Test {
protected:
    // The store reads its clock `late` after the middle of the round trip.
    Time measure(Duration trip, Duration late = {}, Duration step = {}) {
        now += Duration(1'000);
        return clock.measured(now, now + trip, at_zero + now + trip / 2 + late + step);
    }

    StoreClock clock;
    Duration now{70'000};
};

TEST_F(StoreClockTest, RoundTrip_CountsFromItsMiddle) {
    EXPECT_EQ(measure(Duration(10)), at_zero);
    EXPECT_EQ(measure(Duration(10), Duration(5)), at_zero + Duration(5)) << "the newest of equals";
}

TEST_F(StoreClockTest, SlowRoundTrip_DoesNotCount) {
    measure(Duration(4));
    EXPECT_EQ(measure(Duration(1'800), Duration(900)), at_zero);
    EXPECT_EQ(measure(Duration(3), Duration(1)), at_zero + Duration(1));
}

TEST_F(StoreClockTest, StepOfTheStoresClock_IsFollowed) {
    constexpr Duration step{-7'200'000};
    measure(Duration(1));
    for (std::size_t n = 1; n < StoreClock::kept; ++n)
        EXPECT_EQ(measure(Duration(5), {}, step), at_zero) << n;
    EXPECT_EQ(measure(Duration(5), {}, step), at_zero + step);
}

}  // namespace
}  // namespace dormouse::runner
