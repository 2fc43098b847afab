#include "runner/lane/snapshot_plan.h"
#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/state_json.h"

#include <algorithm>

// Snapshots are a cache of the fold: used if readable, never required.
namespace dormouse::runner {
namespace {

using namespace session;

using LaneTest = testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;

class LaneSnapshot : public LaneTest {
protected:
    void change(int number) {
        (void)ask(Change{"title " + std::to_string(number) + std::string(400, '.'), {}, {}, {}});
    }
    // A session with `count` events; 300 of them are more than the journal before a snapshot.
    void live_long(int count) {
        (void)create();
        for (int i = 1; i < count; ++i) change(i);
    }
    store::MemoryDisk::Session& on_disk() { return host.store.disk->sessions.at(1); }
    [[nodiscard]] std::size_t snapshots_sent() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            host.store.sent,
            [](port::Append const& append) { return append.snapshot.has_value(); }));
    }
};

TEST_F(LaneSnapshot, Snapshot_IsWrittenByTheBytesOfTheJournal) {
    live_long(600);
    std::size_t since = 0;
    std::size_t newest = 0;
    for (port::Append const& append : host.store.sent) {
        since += append.frame.bytes.size();
        EXPECT_EQ(
            append.snapshot.has_value(),
            since > std::max(SnapshotPlan::journal_min, SnapshotPlan::journal_factor * newest))
            << append.after;
        if (!append.snapshot) continue;
        EXPECT_EQ(append.snapshot->seq, append.after + append.frame.count);
        newest = append.snapshot->state.size();
        since = 0;
    }
    EXPECT_GE(snapshots_sent(), 2U);
    EXPECT_EQ(on_disk().snapshot->format, wire::snapshot_format);
}

TEST_F(LaneSnapshot, AfterALoad_TheBytesSinceTheSnapshotCount) {
    live_long(200);
    auto const before = snapshots_sent();
    EXPECT_EQ(before, 1U);
    for (int i = 0; i < 200 && snapshots_sent() == before; ++i) {
        reopen();
        change(i);
    }
    EXPECT_EQ(snapshots_sent(), 2U);
}

TEST(SnapshotPlan, LargeState_IsWrittenLessOften) {
    SnapshotPlan plan;
    std::size_t const large = SnapshotPlan::journal_min;
    plan.taken(large);
    plan.appended(SnapshotPlan::journal_factor * large);
    EXPECT_FALSE(plan.due());
    plan.appended(1);
    EXPECT_TRUE(plan.due());
    plan.taken(0);
    plan.appended(SnapshotPlan::journal_min);
    EXPECT_FALSE(plan.due());
    plan.appended(1);
    EXPECT_TRUE(plan.due());
}

TEST_F(LaneSnapshot, LoadFromSnapshot_RestoresTheState) {
    live_long(300);
    State const before = host.lane->state();
    auto const read = read_session(*host.store.store, id);
    ASSERT_TRUE(read);
    Seq const newest = on_disk().snapshot->seq;
    EXPECT_EQ(read->snapshot_seq, newest);
    EXPECT_EQ(read->tail.size(), 300U - newest);  // only the records after the snapshot
    EXPECT_TRUE(read->state == before);
    reopen();
    (void)ask(Tick{});
    EXPECT_TRUE(host.lane->state() == before);
    EXPECT_FALSE(host.lane->recent_from_start());
}

TEST_F(LaneSnapshot, OfTheNewestEvent_HistoryIsNotTakenForEmpty) {
    (void)create();
    for (int i = 0; snapshots_sent() == 0; ++i) change(i);
    reopen();
    (void)ask(Tick{});
    ASSERT_EQ(on_disk().snapshot->seq, host.lane->state().head);
    EXPECT_FALSE(host.lane->recent_from_start());
}

TEST_F(LaneSnapshot, AfterALoad_ModelSeesTheWholeSession) {
    (void)create();
    (void)ask(prompt("the very first"));
    host.work.reply();
    host.loop.run();
    for (int i = 0; i < 300; ++i) change(i);
    reopen();
    (void)ask(prompt("the newest"));
    ASSERT_EQ(host.work.requests.size(), 1U);
    auto const& view = host.work.requests.back().request.view;
    ASSERT_EQ(view.messages.size(), 3U);
    EXPECT_EQ(view.messages[0].parts.text(), R"([{"type":"text","text":"the very first"}])");
}

TEST_F(LaneSnapshot, Unreadable_IsIgnored) {
    live_long(300);
    State const before = host.lane->state();
    for (std::string const& text : {std::string("null"), std::string("[]"), std::string("{}")}) {
        on_disk().snapshot->state = text;
        auto const read = read_session(*host.store.store, id);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->snapshot_seq, 0U);
        EXPECT_EQ(read->tail.size(), 300U);
        EXPECT_TRUE(read->state == before);
    }
}

TEST_F(LaneSnapshot, OtherFormat_IsIgnoredAndReplaced) {
    live_long(300);
    State const before = host.lane->state();
    on_disk().snapshot->format = wire::snapshot_format + 1;
    reopen();
    (void)ask(Tick{});
    EXPECT_TRUE(host.lane->state() == before);
    (void)ask(Change{"one more", {}, {}, {}});
    EXPECT_EQ(on_disk().snapshot->format, wire::snapshot_format);
    EXPECT_EQ(on_disk().snapshot->seq, 301U);
}

TEST_F(LaneSnapshot, RecordOfANewerRelease_IsRefused) {
    live_long(3);
    on_disk().frames.at(2).bytes = R"([["teleported",1,{},0]])";
    reopen();
    std::size_t const commits = host.store.commits.size();
    EXPECT_EQ(ask(prompt("hello")), "newer_format");
    EXPECT_EQ(host.store.commits.size(), commits);
}

}  // namespace
}  // namespace dormouse::runner
