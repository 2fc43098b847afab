#include "http/streams/changes.h"

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

#include <array>
#include <set>

// Tests what pollers receive while the wall clock steps back.
namespace dormouse::http {
namespace {

using namespace session;
using Journal = runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk>;

class ChangesTest : public runner::testing::RunnerTestOn<Journal> {
protected:
    ChangesTest() { follow(); }
    ~ChangesTest() override { observer.on_append = {}; }

    void follow() {
        changes = std::make_unique<Changes>(runner->now());
        observer.on_append = [this](runner::Lane const& lane,
                                    std::vector<wire::RecordPtr> const& records) {
            changes->note(lane.id(), lane.state().project, records, runner->now());
        };
    }
    void restart_all() {
        observer.on_append = {};
        restart();
        follow();
    }
    PendingId waiting() {
        SessionId const session = new_session();
        (void)ask(session, prompt("please"));
        effects.reply({session::testing::job()});
        loop.run();
        PendingId const pending = effects.ran.back().run.pending;
        effects.finish(PauseTerms());
        loop.run();
        return pending;
    }
    void progress(PendingId const& pending) {
        EXPECT_EQ(ask(pending.session, Progress{pending, Json::trusted("1"), ""}), "applied");
    }
    // Returns what a poller receives that continues from `since`.
    std::vector<PendingId> poll(Time since) {
        (void)changes->as_of(runner->now());
        if (changes->remembers(since)) return changes->since("default", since);
        return changed_in_feed(*journal.store, "default", since).value().calls;
    }
    Time as_of() { return changes->as_of(runner->now()); }
    void step(Duration by) {
        clock.step += by;
        loop.advance(Duration(10));
    }

    std::unique_ptr<Changes> changes;
};

using Pendings = std::vector<PendingId>;

TEST_F(ChangesTest, ClockStepsBack_EveryChangeIsReported) {
    PendingId const first = waiting();
    loop.advance(Duration(10));
    for (Duration const back : {Duration(2'000), Duration(3'600'000)}) {
        Time const since = as_of();
        step(-back);
        EXPECT_GE(as_of(), since);
        progress(first);
        EXPECT_EQ(poll(since), Pendings{first});
    }
}

TEST_F(ChangesTest, NothingChanged_ReturnsNothing) {
    (void)waiting();
    loop.advance(Duration(10));
    EXPECT_EQ(poll(as_of()), Pendings{});
}

TEST_F(ChangesTest, StepBackOverRestart_ReturnsChangesOfBothProcesses) {
    PendingId const first = waiting();
    PendingId const second = waiting();
    PendingId const third = waiting();
    loop.advance(Duration(60'000));
    progress(third);
    loop.advance(Duration(10));
    Time const since = as_of();
    step(-std::chrono::hours(1));
    progress(first);  // the poller does not read meanwhile
    restart_all();
    loop.advance(Duration(10));
    progress(second);
    Pendings const received = poll(since);
    EXPECT_NE(std::ranges::find(received, first), received.end());
    EXPECT_NE(std::ranges::find(received, second), received.end());
    EXPECT_EQ(std::ranges::find(received, third), received.end());
}

TEST_F(ChangesTest, RestartWithoutStep_ReturnsOnlyLaterChanges) {
    PendingId const first = waiting();
    PendingId const second = waiting();
    loop.advance(Duration(60'000));
    Time const since = as_of();
    loop.advance(Duration(10));
    progress(second);
    restart_all();
    loop.advance(Duration(10));
    EXPECT_EQ(poll(since), Pendings{second});
    EXPECT_NE(poll(since), Pendings{first});
}

TEST_F(ChangesTest, AfterAPlace_EveryLaterChangeWhateverTheClockSays) {
    PendingId const first = waiting();
    PendingId const second = waiting();
    auto const place = journal.store->feed_head().value();
    EXPECT_TRUE(changed_after(*journal.store, "default", place)->calls.empty());
    step(-std::chrono::hours(1));
    progress(second);
    auto const found = changed_after(*journal.store, "default", place).value();
    EXPECT_EQ(found.calls, Pendings{second});
    EXPECT_EQ(found.since, std::nullopt);
    EXPECT_TRUE(changed_after(*journal.store, "other", place)->calls.empty());
    auto const all = changed_after(*journal.store, "default", 0).value();
    EXPECT_EQ(std::set(all.calls.begin(), all.calls.end()), (std::set{first, second}));
}

TEST(AsOfTest, Place_IsAboveAllTimes) {
    AsOf const place = AsOf::place(7);
    EXPECT_TRUE(place.is_place());
    EXPECT_EQ(place.feed(), 7U);
    EXPECT_LT(place.number(), AsOf::most);
    EXPECT_FALSE(AsOf(Time(std::chrono::hours(1'000'000))).is_place());
    EXPECT_FALSE(AsOf(std::uint64_t{1} << 50).is_place());
    EXPECT_EQ(AsOf(place.number()).feed(), 7U);
}

TEST_F(ChangesTest, SessionWatcher_OtherSessions_DoNotWakeIt) {
    PendingId const mine = waiting();
    PendingId const other = waiting();
    int woken = 0;
    (void)changes->watch("default", mine.session, [&] { ++woken; });
    progress(other);
    EXPECT_EQ(woken, 0);
    progress(mine);
    EXPECT_EQ(woken, 1);
    progress(mine);
    EXPECT_EQ(woken, 1) << "once";
}

TEST_F(ChangesTest, ChangesWereMissed_AllWatchersAreWokenAndMemoryDoesNotCount) {
    PendingId const pending = waiting();
    step(Duration(1'000));
    Time const before = as_of();
    step(Duration(1'000));
    int woken = 0;
    (void)changes->watch("other", {}, [&] { ++woken; });
    (void)changes->watch("default", pending.session, [&] { ++woken; });
    EXPECT_TRUE(changes->remembers(before));
    changes->missed(clock.now());
    EXPECT_EQ(woken, 2);
    EXPECT_FALSE(changes->watched());
    EXPECT_FALSE(changes->remembers(before));
    step(Duration(1'000));
    progress(pending);
    EXPECT_TRUE(changes->remembers(as_of()));
    EXPECT_EQ(changes->since("default", as_of()), Pendings{pending});
}

TEST_F(ChangesTest, SinceTheTimeOfAChange_ReturnsTheChange) {
    PendingId const pending = waiting();
    progress(pending);
    Time const at = as_of();
    EXPECT_EQ(changes->since("default", at), Pendings{pending});
    EXPECT_EQ(changes->since("default", at + Duration(1)), Pendings{});
}

TEST_F(ChangesTest, SeveralProjects_TheirChangesOnly) {
    PendingId const pending = waiting();
    Time const at = as_of();
    int all = 0, some = 0, others = 0;
    (void)changes->watch(port::Projects::all(), {}, [&] { ++all; });
    (void)changes->watch(port::Projects::of({"a", "default"}), {}, [&] { ++some; });
    (void)changes->watch(port::Projects::of({"a", "b"}), {}, [&] { ++others; });
    progress(pending);
    EXPECT_EQ((std::array{all, some, others}), (std::array{1, 1, 0}));
    EXPECT_EQ(changes->since(port::Projects::all(), at), Pendings{pending});
    EXPECT_EQ(changes->since(port::Projects::of({"a", "default"}), at), Pendings{pending});
    EXPECT_EQ(changes->since(port::Projects::of({"a", "b"}), at), Pendings{});
}

}  // namespace
}  // namespace dormouse::http
