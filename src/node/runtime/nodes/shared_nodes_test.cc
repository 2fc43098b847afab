#include "runtime/nodes/shared_nodes.h"

#include "runner/testing/world.h"
#include "runtime/testing/agreeing_store.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace dormouse::runtime {
namespace {

using runner::testing::TestLoop;

// The table of nodes in a test's hands. This process has epoch 7 until it joins again.
class TestSharedStore final : public AgreeingStore {
public:
    [[nodiscard]] Result<port::HeartbeatReply> beat(Self const& self) override {
        selves.push_back(self);
        if (away) return fail(Code::store_unavailable, "away");
        port::HeartbeatReply out{.taken = table.contains(self.epoch), .clock = clock};
        for (auto const& [epoch, counter] : table)
            out.nodes.push_back(
                {.epoch = epoch, .counter = counter, .draining = draining.contains(epoch)});
        return out;
    }
    [[nodiscard]] Result<bool> remove(port::NodeRow const& seen) override {
        bool const same = table.contains(seen.epoch) && table[seen.epoch] == seen.counter;
        if (same) table.erase(seen.epoch);
        return same;
    }
    [[nodiscard]] Result<std::vector<std::string>> receive(Duration limit) override {
        limits.push_back(limit);
        return std::exchange(messages, {});
    }
    [[nodiscard]] Result<Epoch> join() override {
        if (away) return fail(Code::store_unavailable, "away");
        table[20] = 0;
        return Epoch{20};
    }
    [[nodiscard]] Result<port::FeedPage> others(std::uint64_t /*after*/,
                                                std::size_t /*max_bytes*/) override {
        return port::FeedPage{};
    }

    std::map<Epoch, std::uint64_t> table{{7, 0}};
    std::set<Epoch> draining;
    std::vector<Self> selves;  // one for each heartbeat
    bool away = false;
    std::vector<std::string> messages;  // once
    std::vector<Duration> limits;       // of each receive()
    Time clock = from_ms(1'800'000'000'000);
};

// Runs each job when the loop runs.
class LoopThread final : public port::Workers {
public:
    explicit LoopThread(TestLoop& loop) : loop_(loop) {}
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override {
        loop_.post([job = std::move(job), done = std::move(done)]() mutable {
            job(std::stop_token());
            done(true);
        });
        return std::stop_source(std::nostopstate);
    }

private:
    TestLoop& loop_;
};

class SharedNodesTest : public ::testing::Test {
protected:
    void start() {
        nodes.start({[this] { ++fenced; }, [this] { ++joined; },
                     [this](port::HeartbeatReply const&) { ++heartbeats; },
                     [this] {
                         ++left;
                         gone_when_left = nodes.gone(5);
                     },
                     [this](std::string_view text) { received.emplace_back(text); },
                     [this](Time at_zero) { measured.push_back(at_zero); }});
        loop.run();
    }
    void pass(int seconds) { loop.advance(Duration(1'000) * seconds); }

    TestLoop loop;
    runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk> journal{loop};
    TestSharedStore store;
    LoopThread thread{loop};
    SharedNodes nodes{
        {loop, journal, store, store, thread}, 7, {"a", "0a"}, [this] { return loop.now; }};
    int fenced = 0;
    int joined = 0;
    int heartbeats = 0;
    int left = 0;
    bool gone_when_left = false;
    std::vector<std::string> received;
    std::vector<Time> measured;
};

TEST_F(SharedNodesTest, Heartbeats_AreSentEachSecond) {
    EXPECT_FALSE(nodes.may_start()) << "not started";
    nodes.set_url("http://127.0.0.1:1");
    start();
    EXPECT_TRUE(nodes.may_start());
    EXPECT_FALSE(nodes.alone());
    pass(5);
    EXPECT_EQ(heartbeats, 6);
    ASSERT_EQ(store.selves.size(), 6U);
    EXPECT_EQ(store.selves[0].url, "http://127.0.0.1:1");
    EXPECT_EQ(store.selves[5].config, "0a");
    EXPECT_FALSE(store.selves[5].draining);
    nodes.drain();
    pass(1);
    EXPECT_TRUE(store.selves.back().draining);
}

TEST_F(SharedNodesTest, ClockOfTheStore_IsMeasuredAtEachHeartbeat) {
    auto const first = loop.now;
    start();
    store.clock += Duration(5'000);
    pass(1);
    EXPECT_EQ(measured, (std::vector{from_ms(1'800'000'000'000) - first,
                                     from_ms(1'800'000'004'000) - first}));
}

TEST_F(SharedNodesTest, TwoRefusedHeartbeats_StoreIsUnwritable) {
    start();
    store.away = true;
    pass(1);
    EXPECT_FALSE(nodes.refusal()) << "one may be lost";
    pass(1);
    ASSERT_TRUE(nodes.refusal());
    EXPECT_EQ(nodes.refusal()->detail, "away");
    store.away = false;
    pass(1);
    EXPECT_FALSE(nodes.refusal());
}

TEST_F(SharedNodesTest, ChangeByAnother_BringsTheNextHeartbeatAtOnce) {
    start();
    EXPECT_EQ(heartbeats, 1);
    pass(1);
    EXPECT_EQ(heartbeats, 2);
    store.messages = {""};
    pass(1);
    EXPECT_EQ(heartbeats, 3);
    loop.advance(Duration(20));
    EXPECT_EQ(heartbeats, 4) << "not a second later";
    loop.advance(Duration(900));
    EXPECT_EQ(heartbeats, 4);
    loop.advance(Duration(100));
    EXPECT_EQ(heartbeats, 5);
}

TEST_F(SharedNodesTest, WhatIsSaid_IsHeardAndNoHeartbeatFollowsSooner) {
    start();
    pass(1);
    store.messages = {"one", "two"};
    pass(1);
    EXPECT_EQ(received, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(heartbeats, 3);
    ASSERT_EQ(store.limits.size(), 4U) << "and listens on";
    EXPECT_EQ(store.limits[3], Duration(1'000));
    loop.advance(Duration(900));
    EXPECT_EQ(heartbeats, 3);
}

TEST_F(SharedNodesTest, SilentProcess_IsRemoved) {
    store.table[5] = 40;
    start();
    pass(4);
    EXPECT_FALSE(nodes.gone(5));
    pass(2);
    EXPECT_TRUE(nodes.gone(5));
    EXPECT_EQ(nodes.removed(), 1U);
    EXPECT_EQ(store.table.size(), 1U);
}

TEST_F(SharedNodesTest, ProcessThatLeavesOrDrains_IsReportedOnce) {
    for (Epoch const epoch : {5, 6}) store.table[epoch] = 40;
    start();
    EXPECT_EQ(left, 0);
    store.table.erase(5);
    pass(1);
    EXPECT_EQ(left, 1);
    store.draining = {6};
    pass(1);
    EXPECT_EQ(left, 2);
    store.messages = {""};
    pass(1);
    EXPECT_EQ(left, 2);
}

TEST_F(SharedNodesTest, RemovedProcess_IsReportedAtOnce) {
    store.table[5] = 40;
    start();
    pass(5);
    EXPECT_EQ(nodes.removed(), 1U);
    EXPECT_EQ(left, 1);
    EXPECT_TRUE(gone_when_left);
}

TEST_F(SharedNodesTest, StoreAway_NothingStartsAndNobodyIsRemoved) {
    store.table[5] = 40;
    start();
    store.away = true;
    pass(4);
    EXPECT_FALSE(nodes.may_start());
    pass(60);
    store.away = false;
    pass(4);
    EXPECT_TRUE(nodes.may_start());
    EXPECT_FALSE(nodes.gone(5)) << "this process did not watch";
    EXPECT_EQ(fenced, 0);
}

// A tool that waits for a thread is started before the heartbeats fail, and begins later.
TEST_F(SharedNodesTest, Permission_CountsFromTheNewestHeartbeat) {
    EXPECT_FALSE(nodes.start_permission()());
    start();
    auto const permission = nodes.start_permission();
    pass(60);
    EXPECT_TRUE(permission());
    store.away = true;
    pass(4);
    EXPECT_FALSE(permission());
    store.away = false;
    pass(2);
    EXPECT_TRUE(permission()) << "nobody has declared this process dead";
}

TEST_F(SharedNodesTest, Permission_OfAnEarlierEpoch_IsOver) {
    start();
    auto const permission = nodes.start_permission();
    store.table.erase(7);
    pass(1);
    EXPECT_FALSE(permission());
    nodes.rejoin([] {});
    pass(2);
    EXPECT_TRUE(nodes.may_start());
    EXPECT_TRUE(nodes.start_permission()());
    EXPECT_FALSE(permission());
}

TEST_F(SharedNodesTest, RemovedByTheOthers_JoinsAgainUnderANewEpoch) {
    start();
    store.table.erase(7);
    pass(1);
    EXPECT_EQ(fenced, 1);
    EXPECT_FALSE(nodes.may_start());
    store.away = true;
    bool done = false;
    nodes.rejoin([&] {
        done = true;
        EXPECT_EQ(joined, 0);
    });
    pass(3);
    EXPECT_FALSE(done) << "the store is away";
    store.away = false;
    pass(2);
    EXPECT_TRUE(done);
    EXPECT_EQ(joined, 1);
    EXPECT_EQ(nodes.epoch(), 20U);
    pass(1);
    EXPECT_TRUE(nodes.may_start());
    EXPECT_TRUE(nodes.gone(7));
}

}  // namespace
}  // namespace dormouse::runtime
