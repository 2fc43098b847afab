#include "sim/nodes.h"
#include "sim/store_on_loop.h"

#include <gtest/gtest.h>

#include <functional>

namespace dormouse::sim {
namespace {

TEST(World, RunFor_RunsDueWorkInOrder) {
    World world(1);
    Machine machine(world);
    std::string order;
    machine.after(Duration(20), [&] { order += "c"; });
    machine.post([&] { order += "a"; });
    world.outside(Duration(0), [&] { order += "b"; });
    machine.after(Duration(21), [&] { order += "d"; });
    world.run_for(Duration(20));
    EXPECT_EQ(order, "abc");
    EXPECT_EQ(machine.monotonic(), Duration(20));
}

TEST(Machine, Kill_DropsTheWorkOfItsProcessAlone) {
    World world(1);
    Machine machine(world);
    Machine other(world);
    std::string order;
    machine.post([&] { order += "process"; });
    other.post([&] { order += "other "; });
    world.outside(Duration(5), [&] { order += "client"; });
    machine.kill();
    world.run_for(Duration(10));
    EXPECT_EQ(order, "other client");
}

TEST(World, WorkOfOneInstantThatNeverEnds_IsNoticed) {
    World world(1);
    std::function<void()> again = [&] { world.outside(Duration(0), [&] { again(); }); };
    world.outside(Duration(5), [&] { again(); });
    world.run_for(Duration(4));
    EXPECT_FALSE(world.spins());
    world.run_for(Duration(10));
    EXPECT_TRUE(world.spins());
    EXPECT_EQ(world.elapsed(), Duration(14));
}

TEST(World, Leap_MakesDueWorkLate) {
    World world(1);
    Machine machine(world);
    Duration at{0};
    machine.after(Duration(100), [&] { at = machine.monotonic(); });
    world.leap(Duration(5'000));
    world.run_for(Duration(0));
    EXPECT_EQ(at, Duration(5'000));
}

TEST(Machine, StepClock_ChangesOnlyItsWallClock) {
    World world(1);
    Machine machine(world);
    Machine other(world);
    Time const before = machine.now();
    machine.step_clock(Duration(-7'000));
    EXPECT_EQ(machine.now(), before - Duration(7'000));
    EXPECT_EQ(machine.monotonic(), Duration(0));
    EXPECT_EQ(other.now(), before);
}

TEST(Machine, Frozen_RunsWhatFellDueWhenItContinues) {
    World world(1);
    Machine machine(world);
    std::string order;
    machine.after(Duration(10), [&] { order += "a"; });
    machine.after(Duration(20), [&] { order += "b"; });
    machine.freeze();
    world.run_for(Duration(1'000));
    EXPECT_EQ(order, "");
    EXPECT_EQ(machine.monotonic(), Duration(1'000)) << "its clock continues";
    machine.thaw();
    world.run_for(Duration(0));
    EXPECT_EQ(order, "ab");
}

struct SharedNodesTest : testing::Test {
    World world{1};
    Machine machine{world};
    Machine other_machine{world};
    unsigned failed = 0;
    Beats beats;
    std::shared_ptr<store::MemoryDisk> disk = std::make_shared<store::MemoryDisk>();
    store::MemoryStore store{disk, 100, true};
    store::MemoryStore other_store{disk, 100, true};
    SharedNodes nodes{machine, store, beats, failed, {[] {}, [] {}}};
    int beaten = 0;
    int fenced = 0;
    SharedNodes other{
        other_machine, other_store, beats, failed, {[this] { ++beaten; }, [this] { ++fenced; }}};
};

TEST_F(SharedNodesTest, Frozen_IsGoneWithinSevenSeconds) {
    world.run_for(Duration(3'000));
    other_machine.freeze();
    world.run_for(Duration(4'000));
    EXPECT_FALSE(nodes.gone(other.epoch())) << "the counter has stood still for 4 s at most";
    EXPECT_FALSE(other.may_start()) << "it stopped starting effects before";
    world.run_for(Duration(3'000));
    EXPECT_TRUE(nodes.gone(other.epoch()));
    EXPECT_FALSE(nodes.gone(nodes.epoch()));
}

TEST_F(SharedNodesTest, StoreAwayForAll_NobodyIsGone) {
    world.run_for(Duration(3'000));
    nodes.cut(true);
    other.cut(true);
    world.run_for(Duration(60'000));
    nodes.cut(false);
    world.run_for(Duration(2'000));
    other.cut(false);
    world.run_for(Duration(10'000));
    EXPECT_FALSE(nodes.gone(other.epoch()));
    EXPECT_FALSE(other.gone(nodes.epoch()));
}

// The disk may also have fallen back to a state from before this process: nobody is left who would
// append.
TEST_F(SharedNodesTest, NotInTheTable_HeartbeatSaysSo) {
    world.run_for(Duration(3'500));
    store.declare_gone(other.epoch());
    beaten = 0;
    world.run_for(Duration(1'000));
    EXPECT_EQ(fenced, 1);
    EXPECT_EQ(beaten, 0);
    EXPECT_FALSE(other.may_start());
}

TEST_F(SharedNodesTest, Gone_TakesPartAgainUnderANewEpoch) {
    Epoch const before = other.epoch();
    other.cut(true);
    world.run_for(Duration(10'000));
    ASSERT_TRUE(nodes.gone(before));
    other.cut(false);
    bool joined = false;
    other.rejoin([&] { joined = true; });
    world.run_for(Duration(2'000));
    EXPECT_TRUE(joined);
    EXPECT_GT(other.epoch(), before);
    EXPECT_TRUE(other.may_start());
    EXPECT_FALSE(nodes.gone(other.epoch()));
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
    Machine machine{world};
    StoreFaults faults;
    store::MemoryStore store;
    int durable = 0;
    StoreOnLoop journal{machine, store, faults, [this](port::Append const&) { ++durable; }};
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
    auto const question = [](port::Store& inner) { return inner.next_due(); };
    port::ask(journal, question, [&](auto result) { next = std::move(result); });
    EXPECT_FALSE(next);
    world.run_for(Duration(20));
    ASSERT_TRUE(next);
    EXPECT_EQ(next->error().code, Code::store_unavailable);
}

}  // namespace
}  // namespace dormouse::sim
