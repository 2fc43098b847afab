#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/state_json.h"

// Snapshots are a cache of the fold: used if readable, never required.
namespace dormouse::runner {
namespace {

using namespace session;

using LaneTest = testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;

class LaneSnapshot : public LaneTest {
protected:
    // A session with `count` events.
    void live_long(int count) {
        (void)create();
        for (int i = 1; i < count; ++i) (void)ask(Change{"title " + std::to_string(i), {}, {}, {}});
    }
    store::MemoryDisk::Session& on_disk() { return host.store.disk->sessions.at(1); }
    [[nodiscard]] std::size_t snapshots_sent() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            host.store.sent,
            [](port::Append const& append) { return append.snapshot.has_value(); }));
    }
};

TEST_F(LaneSnapshot, Snapshot_IsWrittenEvery256Events) {
    live_long(256);
    EXPECT_EQ(snapshots_sent(), 0U);
    (void)ask(Change{"one more", {}, {}, {}});
    EXPECT_EQ(snapshots_sent(), 1U);
    EXPECT_EQ(on_disk().snapshot->seq, 257U);
    EXPECT_EQ(on_disk().snapshot->format, wire::snapshot_format);
    for (int i = 0; i < 256; ++i) (void)ask(Change{"more " + std::to_string(i), {}, {}, {}});
    EXPECT_EQ(snapshots_sent(), 1U);
    (void)ask(Change{"and one", {}, {}, {}});
    EXPECT_EQ(snapshots_sent(), 2U);
}

TEST_F(LaneSnapshot, LoadFromSnapshot_RestoresTheState) {
    live_long(300);
    State const before = host.lane->state();
    auto const read = read_session(*host.store.store, id);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->snapshot_seq, 257U);
    EXPECT_EQ(read->tail.size(), 43U);  // only the records after the snapshot
    EXPECT_TRUE(read->state == before);
    reopen();
    (void)ask(Tick{});
    EXPECT_TRUE(host.lane->state() == before);
    EXPECT_FALSE(host.lane->recent_from_start());
}

TEST_F(LaneSnapshot, AfterALoad_ModelSeesTheWholeSession) {
    (void)create();
    (void)ask(prompt("the very first"));
    host.work.reply();
    host.loop.run();
    for (int i = 0; i < 300; ++i) (void)ask(Change{"title " + std::to_string(i), {}, {}, {}});
    reopen();
    (void)ask(prompt("the newest"));
    ASSERT_EQ(host.work.asked.size(), 1U);
    auto const& view = host.work.asked.back().request.view;
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
