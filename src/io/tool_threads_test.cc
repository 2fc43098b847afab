#include "io/tool_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>

namespace dormouse::io {
namespace {

TEST(ToolThreads, run_as_many_jobs_at_once_as_there_are_threads) {
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

TEST(ToolThreads, tell_a_running_job_that_it_is_cancelled) {
    ToolThreads pool(1);
    std::promise<void> begun;
    std::promise<bool> stopped;
    auto job = pool.run([&](std::stop_token token) {
        begun.set_value();
        while (!token.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        stopped.set_value(true);
    });
    ASSERT_TRUE(job);
    begun.get_future().wait();
    job->cancel();
    EXPECT_TRUE(stopped.get_future().get());
}

TEST(ToolThreads, still_run_a_job_that_was_cancelled_while_it_waited) {
    ToolThreads pool(1);
    std::promise<void> release;
    ASSERT_TRUE(pool.run([&](std::stop_token) { release.get_future().wait(); }));
    bool heard = false;
    auto waiting = pool.run([&](std::stop_token token) { heard = token.stop_requested(); });
    ASSERT_TRUE(waiting);
    waiting->cancel();
    release.set_value();
    pool.drain();
    EXPECT_TRUE(heard);
}

TEST(ToolThreads, cancel_one_job_and_no_other) {
    ToolThreads pool(1);
    std::promise<void> release;
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

TEST(ToolThreads, refuse_when_the_queue_is_full) {
    ToolThreads pool(1);
    std::promise<void> begun;
    std::promise<void> release;
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

TEST(ToolThreads, stop_tells_every_job_and_waits_for_all) {
    ToolThreads pool(2);
    std::atomic<int> told = 0;
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(pool.run([&](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            ++told;
        }));
    }
    pool.stop();
    EXPECT_EQ(told, 20);
    auto const late = pool.run([](std::stop_token) {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Code::draining);
}

}  // namespace
}  // namespace dormouse::io
