#include "io/threads/tool_threads.h"

#include "base/test_wait.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <latch>

namespace dormouse::io {
namespace {

// Tests declare variables that jobs use before the pool, whose destructor waits for the jobs.

TEST(ToolThreads, Jobs_RunOnAllThreadsAtOnce) {
    ToolThreads pool(4);
    std::latch all_inside(4);
    std::atomic<int> finished = 0;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(pool.run([&](std::stop_token) {
            all_inside.arrive_and_wait();  // would hang if one waited for another
            ++finished;
        }));
    }
    pool.drain();
    EXPECT_EQ(finished, 4);
}

TEST(ToolThreads, Cancel_RunningJob_SeesIt) {
    std::promise<void> begun;
    std::promise<bool> stopped;
    ToolThreads pool(1);
    auto job = pool.run([&](std::stop_token token) {
        begun.set_value();
        wait_while([&] { return !token.stop_requested(); });
        stopped.set_value(true);
    });
    ASSERT_TRUE(job);
    begun.get_future().wait();
    job->cancel();
    EXPECT_TRUE(stopped.get_future().get());
}

TEST(ToolThreads, Cancel_QueuedJob_StillRuns) {
    std::promise<void> release;
    ToolThreads pool(1);
    ASSERT_TRUE(pool.run([&](std::stop_token) { release.get_future().wait(); }));
    bool received = false;
    auto waiting = pool.run([&](std::stop_token token) { received = token.stop_requested(); });
    ASSERT_TRUE(waiting);
    waiting->cancel();
    release.set_value();
    pool.drain();
    EXPECT_TRUE(received);
}

TEST(ToolThreads, Cancel_OneJob_LeavesOthers) {
    std::promise<void> release;
    ToolThreads pool(1);
    ASSERT_TRUE(pool.run([&](std::stop_token) { release.get_future().wait(); }));
    bool other_stopped = true;
    auto first = pool.run([](std::stop_token) {});
    auto second = pool.run([&](std::stop_token token) { other_stopped = token.stop_requested(); });
    ASSERT_TRUE(first && second);
    first->cancel();
    release.set_value();
    pool.drain();
    EXPECT_FALSE(other_stopped);
}

TEST(ToolThreads, FullQueue_IsRefused) {
    std::promise<void> begun;
    std::promise<void> release;
    ToolThreads pool(1);
    ASSERT_TRUE(pool.run([&](std::stop_token) {
        begun.set_value();
        release.get_future().wait();
    }));
    begun.get_future().wait();
    for (std::size_t i = 0; i < ToolThreads::queue_max; ++i)
        ASSERT_TRUE(pool.run([](std::stop_token) {}));
    EXPECT_EQ(pool.queued(), ToolThreads::queue_max);
    auto const refused = pool.run([](std::stop_token) {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::queue_full);
    release.set_value();
}

TEST(ToolThreads, Stop_RequestsAllJobsToStopAndWaits) {
    ToolThreads pool(2);
    std::atomic<int> notified = 0;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(pool.run([&](std::stop_token token) {
            wait_while([&] { return !token.stop_requested(); });
            ++notified;
        }));
    }
    pool.stop();
    EXPECT_EQ(notified, 20);
    auto const late = pool.run([](std::stop_token) {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::draining);
}

TEST(ToolThreads, ThreadThatWaits_QueuedJob_RunsOnAnotherThread) {
    std::promise<void> other, ended;
    ToolThreads pool({.threads = 1, .threads_max = 2});
    ASSERT_TRUE(pool.run([&](std::stop_token) {
        ToolThreads::Waiting const waiting(pool);
        other.get_future().wait();
        ended.set_value();
    }));
    ASSERT_TRUE(pool.run([&](std::stop_token) { other.set_value(); }));
    ended.get_future().wait();
}

TEST(ToolThreads, ThreadsThatWait_AtTheBound_StartNoMore) {
    std::latch inside(3);
    std::promise<void> release;
    auto const released = release.get_future().share();
    std::atomic<int> ran = 0;
    ToolThreads pool({.threads = 1, .threads_max = 3});
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(pool.run([&](std::stop_token) {
            ToolThreads::Waiting const waiting(pool);
            if (++ran <= 3) inside.count_down();
            released.wait();
        }));
    }
    inside.wait();
    EXPECT_EQ(pool.queued(), 2U);
    release.set_value();
    pool.drain();
    EXPECT_EQ(ran, 5);
}

TEST(ToolThreads, WaitingElsewhere_ChangesNothing) {
    std::promise<bool> own;
    ToolThreads pool(1);
    ToolThreads::Waiting const waiting(pool);
    EXPECT_FALSE(pool.is_own_thread());
    ASSERT_TRUE(pool.run([&](std::stop_token) { own.set_value(pool.is_own_thread()); }));
    EXPECT_TRUE(own.get_future().get());
}

TEST(ToolThreads, StopWithin_JobThatIgnoresIt_ReturnsFalse) {
    std::promise<void> release;
    std::promise<void> begun;
    ToolThreads pool(1);
    ASSERT_TRUE(pool.run([&](std::stop_token) {
        begun.set_value();
        release.get_future().wait();
    }));
    begun.get_future().wait();
    EXPECT_FALSE(pool.stop_within(Duration(1)));
    release.set_value();
    EXPECT_TRUE(pool.stop_within(Duration(60'000)));
}

TEST(ToolThreads, Signals_AreBlocked) {
    std::promise<bool> blocked;
    ToolThreads pool(1);
    ASSERT_TRUE(pool.run([&](std::stop_token) {
        sigset_t set;
        ::sigemptyset(&set);
        ::pthread_sigmask(SIG_SETMASK, nullptr, &set);
        blocked.set_value(::sigismember(&set, SIGUSR1) == 1 && ::sigismember(&set, SIGSEGV) == 0);
    }));
    EXPECT_TRUE(blocked.get_future().get());
}

}  // namespace
}  // namespace dormouse::io
