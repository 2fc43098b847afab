#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"

#include <utility>

// A lane while the store has not answered, and after the store failed.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using testing::Fault;

class LaneOrder
    : public testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    // A session with more records than the lane keeps.
    void create_long() {
        (void)create();
        for (int i = 0; i < 3; ++i) {
            (void)ask(prompt(std::string(600'000, 'x')));
            host.work.reply();
            host.loop.run();
        }
        host.work.requests.clear();
        ASSERT_FALSE(host.lane->recent_from_start());
    }
    [[nodiscard]] auto& frames() { return host.store.disk->sessions.at(id.number()).frames; }
};

TEST_F(LaneOrder, LoadOfAnInterruptedRun_SettlesDoubtsBeforeTheTick) {
    (void)create();
    (void)ask(prompt("please"));
    CallSpec spec = with_policy(plain(), CrashPolicy::never);
    spec.terms.time_limit = Duration(1'000);
    host.work.reply({spec});
    host.loop.run();
    ASSERT_EQ(host.work.ran.size(), 1U);
    restart();
    host.loop.advance(Duration(60'000));
    (void)ask(Tick{});
    for (wire::RecordPtr const& record : host.lane->recent()) {
        auto const* const failed = std::get_if<ToolFailed>(&record->event.body);
        if (failed) ADD_FAILURE() << "it did not take longer: its process died";
    }
    EXPECT_FALSE(host.lane->recent().empty());
}

TEST_F(LaneOrder, Observers_SeeAnAppendOnceItIsDurable) {
    (void)create();
    host.observed.clear();
    host.store.hold = true;
    tell(Change{"a title", {}, {}, {}});
    host.loop.run();
    EXPECT_TRUE(host.observed.empty());
    host.store.release();
    EXPECT_EQ(host.observed, std::vector<Seq>{2});
    tell(Change{"lost", {}, {}, {}});
    host.loop.run();
    host.store.fault = Fault::lost;
    host.store.release();
    EXPECT_EQ(host.observed, std::vector<Seq>{2});
}

TEST_F(LaneOrder, TurnCancelledWhileItsHistoryIsRead_IsNotSentToTheModel) {
    create_long();
    host.store.hold_reads = true;
    (void)ask(prompt("hello"));
    EXPECT_TRUE(host.work.requests.empty());
    (void)ask(Cancel{Cancel::Scope::turn, {}});
    host.store.release_reads();
    EXPECT_TRUE(host.work.requests.empty());
    EXPECT_EQ(host.lane->effects_running(), 0U);
}

TEST_F(LaneOrder, HistoryThatCouldNotBeRead_IsReadAgainByTheNextTick) {
    create_long();
    std::string newest;
    host.store.before_read = [&] {
        newest = std::exchange(frames().rbegin()->second.bytes, R"([["of_a_newer_release",1,{}]])");
    };
    (void)ask(prompt("hello"));
    host.store.before_read = {};
    EXPECT_TRUE(host.work.requests.empty());
    frames().rbegin()->second.bytes = newest;
    EXPECT_TRUE(host.lane->wants_tick(host.now(), {})) << "the scan will tick";
    (void)ask(Tick{});
    EXPECT_EQ(host.work.requests.size(), 1U);
}

}  // namespace
}  // namespace dormouse::runner
