#include "sim/store_on_loop.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace dormouse::sim {
namespace {

TEST(World, RunFor_RunsDueWorkInOrder) {
    World world(1);
    std::string order;
    world.after(Duration(20), [&] { order += "c"; });
    world.post([&] { order += "a"; });
    world.outside(Duration(0), [&] { order += "b"; });
    world.after(Duration(21), [&] { order += "d"; });
    world.run_for(Duration(20));
    EXPECT_EQ(order, "abc");
    EXPECT_EQ(world.monotonic(), Duration(20));
}

TEST(World, Kill_DropsTheWorkOfTheProcess) {
    World world(1);
    std::string order;
    world.post([&] { order += "process"; });
    world.outside(Duration(5), [&] { order += "client"; });
    world.kill();
    world.run_for(Duration(10));
    EXPECT_EQ(order, "client");
}

TEST(World, Leap_MakesDueWorkLate) {
    World world(1);
    Duration at{0};
    world.after(Duration(100), [&] { at = world.monotonic(); });
    world.leap(Duration(5'000));
    world.run_for(Duration(0));
    EXPECT_EQ(at, Duration(5'000));
}

TEST(World, StepClock_ChangesOnlyTheWallClock) {
    World world(1);
    Time const before = world.now();
    world.step_clock(Duration(-7'000));
    EXPECT_EQ(world.now(), before - Duration(7'000));
    EXPECT_EQ(world.monotonic(), Duration(0));
}

struct StoreOnLoopTest : testing::Test {
    static port::Append append_of(std::uint64_t number) {
        port::Append append;
        append.session = SessionId::make(number, {});
        append.frame = {1, 1, "event"};
        append.row = port::SessionRow{append.session, "default", "demo", "", "", "active", {}, {}};
        return append;
    }

    // Commits one append; `answer` is nullopt until the result comes.
    void commit(std::uint64_t number) {
        answer.reset();
        journal.commit({append_of(number)}, [this](auto results) { answer = results.front(); });
    }

    World world{1};
    StoreFaults faults;
    store::MemoryStore store;
    int durable = 0;
    StoreOnLoop journal{world, store, faults, [this](port::Append const&) { ++durable; }};
    std::optional<port::AppendResult> answer;
};

TEST_F(StoreOnLoopTest, Answer_ComesNeverFromInsideTheCall) {
    commit(1);
    EXPECT_FALSE(answer);
    EXPECT_EQ(durable, 0);
    world.run_for(Duration(20));
    ASSERT_TRUE(answer);
    EXPECT_TRUE(*answer);
    EXPECT_EQ(durable, 1);
}

TEST_F(StoreOnLoopTest, CommitLost_IsReportedAsFailed) {
    faults.commit_lost = 1'000;
    commit(1);
    world.run_for(Duration(20));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::store_unavailable);
    EXPECT_EQ(durable, 0);
}

TEST_F(StoreOnLoopTest, CommitHidden_IsDurableButReportedAsFailed) {
    faults.commit_hidden = 1'000;
    commit(1);
    world.run_for(Duration(20));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::store_unavailable);
    EXPECT_EQ(durable, 1);
}

TEST_F(StoreOnLoopTest, FailedSync_WritesNothingAfterwards) {
    journal.break_down();
    commit(1);
    world.run_for(Duration(20));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::fail_stop);
    int const before = durable;
    commit(2);
    world.run_for(Duration(20));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->error().code, Code::fail_stop);
    EXPECT_EQ(durable, before);
}

TEST_F(StoreOnLoopTest, ReadFailed_ReturnsAnError) {
    faults.read_failed = 1'000;
    std::optional<Result<std::optional<Time>>> next;
    auto const question = [](port::Store& asked) { return asked.next_due(); };
    port::ask(journal, question, [&](auto result) { next = std::move(result); });
    EXPECT_FALSE(next);
    world.run_for(Duration(20));
    ASSERT_TRUE(next);
    EXPECT_EQ(next->error().code, Code::store_unavailable);
}

}  // namespace
}  // namespace dormouse::sim
