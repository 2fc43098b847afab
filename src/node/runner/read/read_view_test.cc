#include "runner/read/read_view.h"

#include "runner/testing/counting_store.h"
#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/state_json.h"

// Tests what a step reads from the journal for its request to the model.
namespace dormouse::runner {
namespace {

using namespace session;

using CountedStore = testing::CountingStore<store::MemoryStore>;
using CountedLane = testing::LaneTestOn<testing::TestJournal<CountedStore, store::MemoryDisk>>;

class ReadView : public CountedLane {
protected:
    // Stores a session with so many turns, each a prompt and a reply, and a snapshot.
    void live(int turns) {
        (void)create();
        (void)ask(prompt("text"));
        host.work.reply();
        host.loop.run();
        std::vector<Event> turn;
        auto const first = read_records(*host.store.store, id, 1, stored_head()).value();
        for (wire::RecordPtr const& record : first) {
            if (!std::holds_alternative<SessionCreated>(record->event.body))
                turn.push_back(record->event);
        }
        State state = stored();
        for (int i = 1; i < turns; ++i) {
            std::vector<wire::RecordPtr> records;
            for (Event const& event : turn) {
                records.push_back(wire::record(id, later(event, turn.size(), i)));
                apply(state, records.back()->event);
            }
            append(state, records, i + 1 == turns);
        }
        reopen();
    }
    // Prompts the next turn; returns how much was read.
    std::size_t bytes_of_a_step() {
        (void)ask(Tick{});  // loads the session
        host.store.store->bytes_read = 0;
        (void)ask(prompt("and now"));
        EXPECT_EQ(host.work.requests.size(), 1U);
        return host.store.store->bytes_read;
    }
    [[nodiscard]] ModelView const& seen() { return host.work.requests.back().request.view; }
    // The view as if the whole journal were read.
    [[nodiscard]] ModelView whole() {
        auto const all = read_records(*host.store.store, id, 1, stored_head()).value();
        return wire::whole_view(wire::history_of(id, all), seen().view_seq);
    }

private:
    // An event of turn 1, moved to a later turn.
    static Event later(Event event, std::size_t count, int turns) {
        auto const by = static_cast<Seq>(count) * static_cast<Seq>(turns);
        auto const no = static_cast<TurnNo>(turns);
        event.seq += by;
        if (event.turn != 0) event.turn += no;
        if (auto* e = std::get_if<InputReceived>(&event.body)) e->turn += no;
        if (auto* e = std::get_if<TurnEnded>(&event.body)) e->turn += no;
        if (auto* e = std::get_if<ModelRequested>(&event.body)) e->view_seq += by;
        if (auto* e = std::get_if<TurnStarted>(&event.body)) {
            e->turn += no;
            e->input += by;
        }
        return event;
    }
    void append(State const& state, std::vector<wire::RecordPtr> const& records, bool snapshot) {
        port::Append append;
        append.session = id;
        append.after = records.front()->event.seq - 1;
        append.frame = {records.front()->event.seq, static_cast<std::uint32_t>(records.size()),
                        wire::pack(id, records)};
        append.wake_changed = false;
        if (snapshot)
            append.snapshot =
                port::SnapshotRow{state.head, wire::snapshot_format, wire::write_state(state)};
        std::vector<port::Append> const one{std::move(append)};
        auto const done = host.store.store->commit(one);
        ASSERT_TRUE(done.front()) << done.front().error().detail;
    }
};

TEST_F(ReadView, Step_LongLife_ReadsAsMuchAsAShortOne) {
    live(2'000);
    ASSERT_GT(stored_head(), 8'000U);
    std::size_t const bytes = bytes_of_a_step();
    EXPECT_LT(bytes, std::size_t{2} << 20);
    ModelView const view = seen();

    host.lane.reset();
    host.store.disk = std::make_shared<store::MemoryDisk>();
    host.store.reopen();
    host.work.requests.clear();
    host.lane = std::make_shared<Lane>(id, host.services, true);
    live(11'000);
    ASSERT_GT(stored_head(), 50'000U);
    EXPECT_LT(bytes_of_a_step(), bytes + bytes / 8);
    EXPECT_NEAR(static_cast<double>(seen().messages.size()),
                static_cast<double>(view.messages.size()), 100);
}

TEST_F(ReadView, Step_LongLife_ShowsTheEndOfTheWholeSession) {
    live(2'000);
    (void)bytes_of_a_step();
    auto const& messages = seen().messages;
    auto const all = whole().messages;
    ASSERT_EQ(all.size(), 4'001U);
    ASSERT_GE(messages.size(), 900U);
    ASSERT_LT(messages.size(), 1'000U);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        auto const& was = all[all.size() - messages.size() + i];
        ASSERT_EQ(messages[i].parts.text(), was.parts.text());
        ASSERT_EQ(messages[i].seq, was.seq);
    }
}

// Retention cuts the journal between the request and the read.
TEST_F(ReadView, JournalCutSinceItWasAsked_ReadsWhatIsLeft) {
    live(50);
    auto const end = wire::journal_end(stored());
    auto& frames = host.store.disk->sessions.at(id.number()).frames;
    frames.erase(frames.begin(), std::next(frames.begin(), 20));
    auto const view = read_view(*host.store.store, end, end.head);
    ASSERT_TRUE(view);
    EXPECT_GT(view->messages.size(), 20U);
    EXPECT_LT(view->messages.size(), 99U);
}

TEST_F(ReadView, Step_FewerMessagesThanTheLimit_ShowsThemAll) {
    live(499);
    (void)bytes_of_a_step();
    EXPECT_EQ(seen().messages.size(), 999U);
    EXPECT_EQ(whole().messages.size(), 999U);
}

}  // namespace
}  // namespace dormouse::runner
