#include "runtime/nodes/follower.h"

#include "runner/testing/world.h"
#include "runtime/testing/agreeing_store.h"
#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

namespace dormouse::runtime {
namespace {

using runner::testing::TestLoop;

// A feed of the appends of other processes, numbered from 1.
class TestFeed final : public AgreeingStore {
public:
    [[nodiscard]] Result<port::HeartbeatReply> beat(Self const& /*self*/) override {
        return port::HeartbeatReply{};
    }
    [[nodiscard]] Result<bool> remove(port::NodeRow const& /*seen*/) override { return false; }
    [[nodiscard]] Result<Epoch> join() override { return Epoch{0}; }
    [[nodiscard]] Result<port::FeedPage> others(std::uint64_t after,
                                                std::size_t /*max_bytes*/) override {
        ++reads;
        if (away) return fail(Code::store_unavailable, "away");
        port::FeedPage page{.next = after, .gone = after < floor};
        for (std::uint64_t n = after + 1; n <= newest && page.rows.size() < 2; ++n) {
            page.rows.push_back({.n = n});
            page.next = n;
        }
        page.more = page.next < newest;
        return page;
    }

    std::uint64_t newest = 0;
    std::uint64_t floor = 0;
    bool away = false;
    int reads = 0;
};

class FollowerTest : public ::testing::Test {
protected:
    void start() {
        follower.start({[this](port::FeedRow const& row) { seen.push_back(row.n); },
                        [this] {
                            ++lost;
                            reads_when_lost = journal.reads;
                        },
                        [this] { return awaited; }});
        loop.run();
    }

    TestLoop loop;
    runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk> journal{loop};
    TestFeed feed;
    Follower follower{loop, journal, feed, [this] { return loop.now; }};
    std::vector<std::uint64_t> seen;
    int lost = 0;
    std::size_t reads_when_lost = 0;
    bool awaited = false;
};

TEST_F(FollowerTest, NumberHeard_AllUpToItIsRead) {
    start();
    feed.newest = 5;
    follower.on_feed_number(5);
    loop.run();
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
    int const reads = feed.reads;
    follower.on_feed_number(5);
    loop.run();
    EXPECT_EQ(feed.reads, reads) << "nothing is new";
}

TEST_F(FollowerTest, SomebodyWaits_FeedIsReadOften) {
    start();
    loop.advance(Duration(1'000));
    EXPECT_EQ(feed.reads, 0);
    awaited = true;
    feed.newest = 1;
    loop.advance(Follower::awaited_every);
    EXPECT_EQ(seen, std::vector<std::uint64_t>{1});
}

TEST_F(FollowerTest, Moved_FeedIsReadAtOnceAndAgainIfItMovesMeanwhile) {
    start();
    feed.newest = 1;
    follower.moved();
    follower.moved();
    follower.moved();
    loop.run();
    EXPECT_EQ(seen, std::vector<std::uint64_t>{1});
    EXPECT_EQ(feed.reads, 2);
}

TEST_F(FollowerTest, StoreAway_NothingIsLeftOut) {
    start();
    feed.newest = 3;
    feed.away = true;
    follower.on_feed_number(3);
    loop.run();
    feed.away = false;
    feed.newest = 4;
    follower.on_feed_number(4);
    loop.run();
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(FollowerTest, NumbersThatAreNotRead_SayHowFarItIsBehind) {
    start();
    EXPECT_EQ(follower.behind(), Duration(0));
    feed.newest = 3;
    feed.away = true;
    follower.on_feed_number(3);
    loop.advance(Duration(2'000));
    follower.on_feed_number(4);
    loop.advance(Duration(1'000));
    EXPECT_EQ(follower.behind(), Duration(3'000)) << "since the oldest one";
    feed.away = false;
    follower.moved();
    loop.run();
    EXPECT_EQ(follower.behind(), Duration(1'000)) << "the newer number is not in the feed yet";
    feed.newest = 4;
    follower.moved();
    loop.run();
    EXPECT_EQ(follower.behind(), Duration(0));
}

TEST_F(FollowerTest, VeryManyNumbers_AreNotAllKept) {
    start();
    feed.away = true;
    for (std::uint64_t n = 1; n <= 10'000; ++n) follower.on_feed_number(n);
    feed.away = false;
    feed.newest = 10'000;
    follower.moved();
    loop.run();
    EXPECT_EQ(follower.behind(), Duration(0));
}

TEST_F(FollowerTest, FeedWasRemovedMeanwhile_ReportsTheLoss) {
    start();
    feed.floor = 100;
    feed.newest = 200;
    follower.on_feed_number(200);
    loop.run();
    EXPECT_EQ(lost, 1);
    EXPECT_TRUE(seen.empty());
    EXPECT_EQ(reads_when_lost, 3U) << "what is appended after the end was found is not lost";
}

TEST_F(FollowerTest, MovedBeforeTheEndIsKnown_FeedIsReadThen) {
    feed.newest = 1;
    follower.start(
        {[this](port::FeedRow const& row) { seen.push_back(row.n); }, [] {}, [] { return false; }});
    follower.moved();
    loop.run();
    EXPECT_EQ(seen, std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace dormouse::runtime
