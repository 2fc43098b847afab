#include "io/loop.h"

#include "io/clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <thread>
#include <vector>

namespace dormouse::io {
namespace {

TEST(AsioLoop, PostedWork_RunInOrder) {
    AsioLoop loop;
    std::vector<int> seen;
    for (int i = 0; i < 1'000; ++i) loop.post([&seen, i] { seen.push_back(i); });
    loop.post([&] { loop.stop(); });
    loop.run();
    ASSERT_EQ(seen.size(), 1'000U);
    EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST(AsioLoop, TaskOutOfMemory_OthersContinue) {
    AsioLoop loop;
    std::vector<int> seen;
    loop.post([] { throw std::bad_alloc(); });
    loop.post([&] { seen.push_back(1); });
    loop.after(Duration(1), [] { throw std::bad_alloc(); });
    loop.after(Duration(20), [&] {
        seen.push_back(2);
        loop.stop();
    });
    loop.run();
    EXPECT_THAT(seen, testing::ElementsAre(1, 2));
}

TEST(AsioLoop, Post_NeverRunsWorkInside) {
    AsioLoop loop;
    std::vector<int> seen;
    loop.post([&] {
        loop.post([&] {
            seen.push_back(2);
            loop.stop();
        });
        seen.push_back(1);
    });
    loop.run();
    EXPECT_THAT(seen, testing::ElementsAre(1, 2));
}

TEST(AsioLoop, PostsOfManyThreads_KeepEachThreadsOrder) {
    AsioLoop loop;
    constexpr int threads = 4;
    constexpr int each = 20'000;
    std::vector<std::vector<int>> seen(threads);
    int total = 0;
    std::vector<std::jthread> posters;
    for (std::size_t t = 0; t < threads; ++t) {
        posters.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) {
                loop.post([&, t, i] {
                    seen[t].push_back(i);
                    if (++total == threads * each) loop.stop();
                });
            }
        });
    }
    loop.run();
    for (auto const& one : seen) {
        EXPECT_EQ(one.size(), static_cast<std::size_t>(each));
        EXPECT_TRUE(std::ranges::is_sorted(one));
    }
}

TEST(AsioLoop, DelayedWork_RunsInTheOrderOfItsTime) {
    AsioLoop loop;
    std::vector<int> seen;
    loop.after(Duration(40), [&] {
        seen.push_back(40);
        loop.stop();
    });
    loop.after(Duration(10), [&] { seen.push_back(10); });
    loop.after(Duration(0), [&] { seen.push_back(0); });
    loop.run();
    EXPECT_THAT(seen, testing::ElementsAre(0, 10, 40));
}

TEST(AsioLoop, ClockMoved_RunDue_RunsWhatFellDueInOrder) {
    MovableClock clock;
    AsioLoop loop(clock);
    std::vector<int> seen;
    loop.after(Duration(7'200'000), [&] { seen.push_back(3); });
    loop.after(Duration(3'600'000), [&] { seen.push_back(2); });
    loop.after(Duration(1'800'000), [&] {
        seen.push_back(1);
        loop.after(Duration(0), [&] { loop.stop(); });
    });
    loop.post([&] {
        clock.advance(Duration(3'600'000));
        loop.run_due();
    });
    loop.run();
    EXPECT_THAT(seen, testing::ElementsAre(1, 2));
    loop.after(Duration::max(), [&] { seen.push_back(4); });
    clock.advance(Duration(3'600'000));
    loop.run_due();
    EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3));
}

TEST(AsioLoop, WorkAfterStop_RunsInTheNextRun) {
    AsioLoop loop;
    int seen = 0;
    loop.post([&] { loop.stop(); });
    loop.run();
    loop.post([&] {
        ++seen;
        loop.stop();
    });
    loop.run();
    EXPECT_EQ(seen, 1);
}

// Work may post when it is destroyed, as an unanswered Responder does.
TEST(AsioLoop, Destroyed_DropsQueuedWork) {
    auto loop = std::make_unique<AsioLoop>();
    int destroyed = 0;
    struct Last {
        AsioLoop* loop;
        int* count;
        ~Last() {
            ++*count;
            loop->post([] {});
        }
    };
    loop->after(Duration(10'000), [last = std::make_shared<Last>(loop.get(), &destroyed)] {});
    loop->post([last = std::make_shared<Last>(loop.get(), &destroyed)] {});
    loop.reset();
    EXPECT_EQ(destroyed, 2);
}

}  // namespace
}  // namespace dormouse::io
