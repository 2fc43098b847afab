#include "io/process/signals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <vector>

namespace dormouse::io {
namespace {

TEST(Signals, Signal_CallsTheLoopEachTime) {
    AsioLoop loop;
    std::vector<int> seen;
    Signals const signals(loop, [&](int number) {
        seen.push_back(number);
        if (seen.size() == 1)
            ::raise(SIGINT);
        else
            loop.stop();
    });
    ::raise(SIGTERM);
    loop.run();
    EXPECT_THAT(seen, testing::ElementsAre(SIGTERM, SIGINT));
}

TEST(Signals, Destroyed_SignalsAreSilent) {
    AsioLoop loop;
    bool called = false;
    {
        Signals const signals(loop, [&](int) { called = true; });
    }
    loop.after(Duration(20), [&] { loop.stop(); });
    loop.run();
    EXPECT_FALSE(called);
}

TEST(Signals, ClosedPipe_IsAnErrorValue) {
    ignore_sigpipe();
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
    ::close(ends[1]);
}

}  // namespace
}  // namespace dormouse::io
