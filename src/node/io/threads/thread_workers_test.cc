#include "io/threads/thread_workers.h"

#include "io/loop.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

namespace dormouse::io {
namespace {

TEST(ThreadWorkers, JobOutOfMemory_IsReportedAsNotRun) {
    AsioLoop loop;
    ToolThreads threads(1);
    ThreadWorkers workers(threads, loop);
    std::vector<bool> ran;
    workers.run([](std::stop_token const&) { throw std::bad_alloc(); },
                [&](bool one) { ran.push_back(one); });
    workers.run([](std::stop_token const&) {},
                [&](bool one) {
                    ran.push_back(one);
                    loop.stop();
                });
    loop.run();
    EXPECT_EQ(ran, (std::vector<bool>{false, true}));
}

TEST(ThreadWorkers, JobIsDestroyed_BeforeItsEndIsReported) {
    AsioLoop loop;
    ToolThreads threads(1);
    ThreadWorkers workers(threads, loop);
    auto const shared = std::make_shared<int>(1);
    long users = 0;
    workers.run([shared](std::stop_token const&) {},
                [&](bool) {
                    users = shared.use_count();
                    loop.stop();
                });
    loop.run();
    EXPECT_EQ(users, 1) << "the loop is the last to release it";
}

}  // namespace
}  // namespace dormouse::io
