#include "runner/guarded_clock.h"

#include <gtest/gtest.h>

namespace dormouse::runner {
namespace {

class SteppedClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return wall; }
    [[nodiscard]] Duration monotonic() const override { return mono; }
    void pass(Duration time) {
        wall += time;
        mono += time;
    }
    Time wall = from_ms(1'800'000'000'000);
    Duration mono{5'000};
};

constexpr Duration second{1'000};

TEST(GuardedClock, SteadyClock_ReturnsWallTime) {
    SteppedClock clock;
    GuardedClock const held(clock);
    for (int i = 0; i < 100; ++i) {
        clock.pass(10 * second);
        EXPECT_EQ(held.now(), clock.wall);
    }
    EXPECT_FALSE(held.holding());
}

TEST(GuardedClock, SmallOrBackwardStep_IsApplied) {
    SteppedClock clock;
    GuardedClock const held(clock);
    clock.wall += 60 * second;
    EXPECT_EQ(held.now(), clock.wall);
    clock.wall -= 3'600 * second;
    EXPECT_EQ(held.now(), clock.wall);
    EXPECT_FALSE(held.holding());
}

TEST(GuardedClock, JumpAheadOverAMinute_IsDelayedByAMinute) {
    SteppedClock clock;
    GuardedClock const held(clock);
    Time const before = clock.wall;
    clock.wall += 3'600 * second;
    EXPECT_EQ(held.now(), before);
    EXPECT_TRUE(held.holding());
    clock.pass(59 * second);
    EXPECT_EQ(held.now(), before + 59 * second);  // continues with the old offset
    clock.pass(second);
    EXPECT_EQ(held.now(), clock.wall);
    EXPECT_FALSE(held.holding());
}

TEST(GuardedClock, JumpRevertedWithinTheMinute_HasNoEffect) {
    SteppedClock clock;
    GuardedClock const held(clock);
    clock.wall += 3'600 * second;
    (void)held.now();
    clock.pass(30 * second);
    clock.wall -= 3'600 * second;
    EXPECT_EQ(held.now(), clock.wall);
    EXPECT_FALSE(held.holding());
    clock.wall += 3'600 * second;  // the next jump is delayed again, for a whole minute
    Time const before = held.now();
    clock.pass(59 * second);
    EXPECT_EQ(held.now(), before + 59 * second);
}

TEST(GuardedClock, SecondJump_IsDelayedToo) {
    SteppedClock clock;
    GuardedClock const held(clock);
    clock.wall += 3'600 * second;
    (void)held.now();
    clock.pass(60 * second);
    (void)held.now();
    Time const before = clock.wall;
    clock.wall += 7'200 * second;
    EXPECT_EQ(held.now(), before);
    EXPECT_TRUE(held.holding());
}

}  // namespace
}  // namespace dormouse::runner
