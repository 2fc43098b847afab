#include "acp/timer.h"

#include "acp/testing/fakes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace dormouse::acp {
namespace {

TEST(TimerTest, SetAgain_RunsTheNewestOnce) {
    testing::FakeLoop loop;
    Timer timer(loop);
    std::string ran;
    timer.set(Duration(2), [&] { ran += "a"; });
    timer.set(Duration(5), [&] { ran += "b"; });
    EXPECT_TRUE(timer.is_set());
    loop.pass(Duration(4));
    EXPECT_EQ(ran, "");
    loop.pass(Duration(10));
    EXPECT_EQ(ran, "b");
    EXPECT_FALSE(timer.is_set());
}

TEST(TimerTest, StoppedOrDestroyed_RunsNothing) {
    testing::FakeLoop loop;
    std::optional<Timer> timer(loop);
    int ran = 0;
    timer->set(Duration(2), [&] { ++ran; });
    timer->stop();
    EXPECT_FALSE(timer->is_set());
    loop.pass(Duration(2));
    timer->set(Duration(2), [&] { ++ran; });
    timer.reset();
    loop.pass(Duration(2));
    EXPECT_EQ(ran, 0);
}

TEST(TimerTest, SetFromInside_RunsAgain) {
    testing::FakeLoop loop;
    Timer timer(loop);
    int ran = 0;
    timer.set(Duration(2), [&] {
        ++ran;
        timer.set(Duration(2), [&] { ++ran; });
    });
    loop.pass(Duration(2));
    EXPECT_EQ(ran, 1);
    loop.pass(Duration(2));
    EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace dormouse::acp
