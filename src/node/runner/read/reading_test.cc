#include "runner/read/reading.h"

#include "runner/lane/rows.h"
#include "runner/testing/lane_fixture.h"
#include "session/limits.h"
#include "store/memory/memory_store.h"

namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;

using LaneTest = testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;

class Reading : public LaneTest {
protected:
    [[nodiscard]] Found found(Wanted const& wanted) {
        auto found = read_found(*host.store.store, id, wanted, 0);
        EXPECT_TRUE(found);
        return found.value_or(Found());
    }
    // A settled call; returns the pending id of its receipt.
    PendingId settled_call() {
        PendingId const pending = waiting_call();
        (void)ask(submit(pending, result("first")));
        return pending;
    }
};

TEST_F(Reading, PendingRow_LeadsToTheReceipt) {
    PendingId const pending = settled_call();
    Receipt const receipt = *last.receipt;
    Wanted wanted;
    wanted.receipt = pending;
    EXPECT_EQ(found(wanted).receipt, receipt);
}

TEST_F(Reading, OpenOrUnknownCall_HasNoReceipt) {
    PendingId const pending = waiting_call();
    Wanted wanted;
    wanted.receipt = pending;
    EXPECT_FALSE(found(wanted).receipt);
    wanted.receipt->call = 99;
    EXPECT_FALSE(found(wanted).receipt);
}

TEST_F(Reading, ExpiryAndCancel_HaveReceipts) {
    PendingId const expired = waiting_call();
    host.loop.advance(Duration(25 * 3'600'000LL));
    (void)ask(Tick{});
    Wanted wanted;
    wanted.receipt = expired;
    EXPECT_EQ(found(wanted).receipt->kind, SubmissionKind::expiry);
    host.work.reply({job()});
    host.loop.run();
    PendingId const cancelled = host.work.ran.back().run.pending;
    (void)ask(Cancel{Cancel::Scope::call, cancelled});
    wanted.receipt = cancelled;
    EXPECT_EQ(found(wanted).receipt->kind, SubmissionKind::cancel);
}

TEST_F(Reading, Notes_AreCountedAndKnownByTheirDigest) {
    PendingId const pending = settled_call();
    for (int i = 0; i < 12; ++i) (void)ask(submit(pending, result("other " + std::to_string(i))));
    Wanted wanted;
    wanted.receipt = pending;
    wanted.note = result("other 3").digest;
    EXPECT_EQ(found(wanted).notes, limits::notes_per_pause_max);
    EXPECT_TRUE(found(wanted).note_known);
    wanted.note = result("never offered").digest;
    EXPECT_FALSE(found(wanted).note_known);
    wanted.note.reset();
    EXPECT_EQ(found(wanted).notes, 0U);
}

TEST_F(Reading, Key_LeadsToWhatItsCommandDid) {
    PendingId const pending = waiting_call();
    (void)ask(prompt("later", PromptMode::queue), "key");
    (void)ask(Progress{pending, Json::trusted("1"), "50"});
    Wanted wanted;
    wanted.earlier = earlier_key("key");
    wanted.progress = progress_key(pending, "50");
    Found both = found(wanted);
    ASSERT_TRUE(both.earlier);
    EXPECT_EQ(both.earlier->turn, 2U);
    EXPECT_EQ(both.earlier->idem, "key.d");
    EXPECT_TRUE(both.progress_known);
    wanted.earlier = earlier_key("unknown");
    both = found(wanted);
    EXPECT_FALSE(both.earlier);
    EXPECT_TRUE(both.progress_known);
    wanted.progress = progress_key(pending, "51");
    EXPECT_FALSE(found(wanted).progress_known);
}

TEST_F(Reading, Records_AreReadByRangeAcrossPages) {
    (void)create();
    std::string const large(400'000, 'x');
    for (int i = 0; i < 8; ++i) (void)ask(Change{large + std::to_string(i), {}, {}, {}});
    auto const all = read_records(*host.store.store, id, 1, 9);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 9U);
    for (Seq seq = 1; seq <= 9; ++seq) EXPECT_EQ((*all)[seq - 1]->event.seq, seq);
    auto const some = read_records(*host.store.store, id, 3, 5);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->size(), 3U);
    EXPECT_EQ(some->front()->event.seq, 3U);
    EXPECT_TRUE(read_records(*host.store.store, id, 10, 20)->empty());
    EXPECT_TRUE(read_records(*host.store.store, id, 5, 4)->empty());
}

TEST_F(Reading, DeletedSession_DiffersFromUnknownSession) {
    (void)create();
    (void)ask(Delete{});
    EXPECT_EQ(stored().lifecycle, Lifecycle::deleted);
    auto const other =
        // another session with that number
        read_session(*host.store.store, SessionId::make(1, {1}));
    ASSERT_TRUE(other);
    EXPECT_EQ(other->state.lifecycle, Lifecycle::none);
}

TEST(Rows, PendingRow_SaysHowTheCallEnded) {
    PendingChange change;
    change.pending = {SessionId(), 3, 2, {}};
    change.tool = "deploy";
    change.created = from_ms(5);
    change.deadline = from_ms(9);
    change.paused = 11;
    port::PendingRow row = pending_row(change);
    EXPECT_EQ(row, (port::PendingRow{3, 2, port::PendingStatus::waiting, "deploy", from_ms(5),
                                     from_ms(9), 11, 0}));
    std::vector<std::pair<CallStatus, port::PendingStatus>> const ends{
        {CallStatus::completed, port::PendingStatus::completed},
        {CallStatus::failed, port::PendingStatus::failed},
        {CallStatus::expired, port::PendingStatus::expired},
        {CallStatus::cancelled, port::PendingStatus::cancelled}};
    for (auto const& [status, expected] : ends) {
        change.status = status;
        EXPECT_EQ(pending_row(change).status, expected);
    }
}

TEST(Rows, SessionRow_IsWrittenWhenItsContentChanges) {
    Given given;
    auto const written = [&](Decision const& decision) {
        std::vector<wire::RecordPtr> records;
        for (Event const& event : decision.events) records.push_back(wire::record(given.id, event));
        return changed_row(given.state, records, row_turn(given.state));
    };
    EXPECT_EQ(written(given.create())->agent, "coder");
    EXPECT_TRUE(written(given.prompt("hello")));  // sets its title
    EXPECT_FALSE(written(given.prompt("hello there", PromptMode::queue)));
    EXPECT_FALSE(written(given.reply()));
    auto const titled = written(given.when(Change{"Ship", "ops-1", {}, {}}));
    ASSERT_TRUE(titled);
    EXPECT_EQ(titled->title, "Ship");
    EXPECT_EQ(titled->alias, "ops-1");
    EXPECT_EQ(titled->updated, given.now);
    EXPECT_EQ(written(given.move(Move::To::pause))->status, "paused");
    EXPECT_EQ(written(given.move(Move::To::end))->status, "completed");
    EXPECT_EQ(written(given.when(Delete{}))->status, "deleted");
}

TEST(Rows, SessionRow_IsWrittenWhenItsTurnChanges) {
    using port::TurnState;
    Given given;
    given.create();
    EXPECT_EQ(changed_row(given.state, {}, std::nullopt)->turn, TurnState::rest);
    EXPECT_FALSE(changed_row(given.state, {}, TurnState::rest));
    given.prompt("hello");
    EXPECT_EQ(turn_state(given.state), TurnState::running);
    EXPECT_FALSE(changed_row(given.state, {}, TurnState::rest)) << "its wake-up says that it works";
    given.reply();
    EXPECT_FALSE(changed_row(given.state, {}, TurnState::rest));
}

// The newest frame that retention replaces may reach beyond what it removes.
TEST(Holds, FrameThatRetentionReplaced_IsThere) {
    store::MemoryStore store;
    auto const append_of = [](Seq after, std::uint32_t count) {
        port::Append append;
        append.session = SessionId::make(1, {});
        append.after = after;
        append.frame = {after + 1, count, "frame " + std::to_string(after)};
        return append;
    };
    auto first = append_of(0, 5);
    first.row = port::SessionRow{first.session, "default", "demo", "", "", "active", {}, {}};
    port::NewestFrame const known{5, port::stamp_of(first.session, first.frame)};
    State now;
    now.id = first.session;
    ASSERT_TRUE(store.commit({&first, 1})[0]);
    EXPECT_TRUE(holds(store, now, known).value());
    EXPECT_FALSE(holds(store, now, {5, port::Stamp{1}}).value()) << "another frame";
    EXPECT_FALSE(holds(store, now, {6, known.stamp}).value()) << "a frame that is lost";
    auto cut = append_of(5, 1);
    cut.base = port::BaseRow();
    cut.base->frame = {1, 5, "what is left"};
    cut.base->through = 3;
    ASSERT_TRUE(store.commit({&cut, 1})[0]);
    now.base.through = 3;
    EXPECT_TRUE(holds(store, now, known).value());
    EXPECT_FALSE(holds(store, now, {7, known.stamp}).value());
}

}  // namespace
}  // namespace dormouse::runner
