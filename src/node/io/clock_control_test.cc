#include "io/clock_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <string>
#include <thread>

namespace dormouse::io {
namespace {

std::array<int, 2> socket_pair(int type = SOCK_STREAM) {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, type, 0, pair.data()), 0);
    return pair;
}

std::string ask(int socket, std::string const& line) {
    EXPECT_EQ(::write(socket, line.data(), line.size()), static_cast<ssize_t>(line.size()));
    std::string out;
    for (char byte = 0; byte != '\n' && ::read(socket, &byte, 1) == 1;) out += byte;
    return out;
}

TEST(ClockControl, Advance_DueWork_RunsBeforeTheAnswer) {
    MovableClock clock;
    AsioLoop loop(clock);
    auto const [ours, theirs] = socket_pair();
    ClockControl control(loop, clock, theirs);
    bool ran = false;
    bool settled = false;
    loop.after(Duration(3'600'000), [&] { ran = true; });
    control.start([&](auto done) {
        settled = ran;
        loop.post(std::move(done));
    });
    std::thread thread([&] { loop.run(); });
    auto const before = clock.now();
    EXPECT_EQ(ask(ours, "advance 3600000\n"), "ok\n");
    EXPECT_TRUE(settled);
    EXPECT_GE(clock.now() - before, Duration(3'600'000));
    for (std::string const wrong :
         {"advance -1\n", "advance\n", "advance 1h\n", "rewind 5\n", "advance 9999999999999999\n"})
        EXPECT_THAT(ask(ours, wrong), testing::StartsWith("error: ")) << wrong;
    EXPECT_EQ(ask(ours, "advance 0\n"), "ok\n");
    loop.stop();
    thread.join();
    ::close(ours);
}

TEST(ClockControl, Environment_NotAnInheritedSocket_Refused) {
    MovableClock clock;
    AsioLoop loop(clock);
    ::unsetenv(ClockControl::variable);
    auto const none = ClockControl::of_environment(loop, clock);
    ASSERT_TRUE(none);
    EXPECT_EQ(*none, nullptr);
    int const file = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    auto const packets = socket_pair(SOCK_DGRAM);
    for (std::string const& wrong :
         {std::string(), std::string("1"), std::string("x"), std::string("999"),
          std::to_string(file), std::to_string(packets[0])}) {
        ::setenv(ClockControl::variable, wrong.c_str(), 1);
        auto const refused = ClockControl::of_environment(loop, clock);
        ASSERT_FALSE(refused) << wrong;
        EXPECT_THAT(refused.error().detail, testing::HasSubstr("DORMOUSE_TEST_CLOCK_FD must be"));
    }
    auto const pair = socket_pair();
    ::setenv(ClockControl::variable, std::to_string(pair[0]).c_str(), 1);
    EXPECT_TRUE(ClockControl::of_environment(loop, clock));
    ::unsetenv(ClockControl::variable);
    for (int const fd : {file, packets[0], packets[1], pair[1]}) ::close(fd);
}

}  // namespace
}  // namespace dormouse::io
