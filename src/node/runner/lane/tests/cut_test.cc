#include "runner/lane/cut.h"
#include "runner/read/read_view.h"

#include "runner/lane/rows.h"
#include "runner/testing/runner_fixture.h"
#include "runner/testing/story_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/state_json.h"
#include "wire/testing/story.h"
#include "wire/view/view.h"

#include <gtest/gtest.h>

namespace dormouse::runner::testing {
namespace {

using namespace session;
using Records = StoredStory::Records;

class Kept : public StoredStory {
public:
    using StoredStory::StoredStory;

    // False: there was nothing to cut.
    bool cut(Keep const& keep) {
        auto const planned = plan_cut(store, id, keep, now());
        EXPECT_TRUE(planned) << planned.error().detail;
        if (!planned || !planned->cut) return false;
        Command command;
        command.body = planned->cut->command;
        Attachments const beside = take_attachments(command);
        Event event{state.head + 1,
                    all.back()->event.at,
                    state.turn ? state.turn->no : 0,
                    {},
                    std::get<CutHistory>(command.body).what};
        apply(state, event);
        all.push_back(wire::record(id, event));  // every record that ever existed
        auto append = append_of({all.back()});
        add_attachments(beside, {event}, append);
        append.wake_changed = false;
        // Sometimes with a snapshot, as lanes write one, and sometimes without, as if it were
        // unreadable.
        if (random() % 2 == 0)
            append.snapshot =
                port::SnapshotRow{state.head, wire::snapshot_format, wire::write_state(state)};
        commit(std::move(append));
        return true;
    }

    // The time of the newest event.
    [[nodiscard]] Time now() const { return all.back()->event.at; }
};

State fold(SessionId id, Records const& records, Seq to) {
    State state;
    state.id = id;
    for (wire::RecordPtr const& record : records) {
        if (record->event.seq <= to) apply(state, record->event);
    }
    return state;
}

wire::History history(SessionId id, Records const& records) {
    wire::History out(id);
    for (wire::RecordPtr const& record : records) out.add(*record);
    return out;
}

// The model still sees the same messages, without the removed ones.
void expect_same_end(Kept& kept) {
    auto const whole = wire::model_view(history(kept.id, kept.all), kept.state.head);
    auto const rest = read_view(kept.store, wire::journal_end(kept.state), kept.state.head).value();
    ASSERT_LE(rest.messages.size(), whole.messages.size());
    std::size_t const gone = whole.messages.size() - rest.messages.size();
    for (std::size_t i = 0; i < rest.messages.size(); ++i) {
        auto const& was = whole.messages[gone + i];
        EXPECT_EQ(rest.messages[i].parts.text(), was.parts.text());
        EXPECT_EQ(rest.messages[i].calls.size(), was.calls.size());
    }
}

void expect_whole(Kept& kept) {
    auto const read = read_session(kept.store, kept.id);
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_TRUE(read->state == kept.state);
    auto const again = read_again(kept.store, kept.id);
    ASSERT_TRUE(again) << again.error().detail;
    EXPECT_TRUE(again->state == kept.state);
    auto const report = verify(kept.store, [](std::uint64_t) {});
    ASSERT_TRUE(report);
    for (Finding const& finding : report->findings) ADD_FAILURE() << finding.what;

    Seq const through = kept.state.base.through;
    State const then = fold(kept.id, kept.all, through);
    EXPECT_FALSE(then.turn);
    EXPECT_TRUE(then.calls.empty());
    std::set<Seq> there;
    for (wire::RecordPtr const& record : kept.stored()) there.insert(record->event.seq);
    for (Seq seq = through + 1; seq <= kept.state.head; ++seq) EXPECT_TRUE(there.contains(seq));
    for (QueuedInput const& input : then.queue) EXPECT_TRUE(there.contains(input.seq));
    for (InboxItem const& item : then.inbox) EXPECT_TRUE(there.contains(item.seq));
    auto const tasks = history(kept.id, kept.stored()).tasks();
    auto const all_tasks = history(kept.id, kept.all).tasks();
    ASSERT_EQ(tasks.size(), all_tasks.size());
    for (auto const& [no, task] : all_tasks) {
        EXPECT_EQ(tasks.at(no).result.text(), task.result.text());
        EXPECT_EQ(tasks.at(no).run, task.run);
        EXPECT_EQ(tasks.at(no).status, task.status);
    }
    EXPECT_EQ(wire::testing::listed(history(kept.id, kept.stored())), message_count(kept.state));
    if (then.inbox.empty()) expect_same_end(kept);
}

TEST(Cut, RandomSessions_KeepEverythingAfterTheCut) {
    int cuts = 0, again = 0, carried = 0;
    for (std::uint32_t seed = 0; seed < 160; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto const sample = wire::testing::story(seed, 240);
        if (sample.state.lifecycle == Lifecycle::deleted) continue;
        Kept kept(sample, seed);
        if (!kept.cut({.messages = 2 + seed % 30})) continue;
        ++cuts;
        expect_whole(kept);
        carried += kept.stored().front()->event.seq <= kept.state.base.through ? 1 : 0;
        Seq const first = kept.state.base.through;
        if (!kept.cut({.messages = 2})) continue;
        ++again;
        EXPECT_GT(kept.state.base.through, first);
        expect_whole(kept);
        if (HasFailure()) break;
    }
    EXPECT_GT(cuts, 40);
    EXPECT_GT(again, 10);
    EXPECT_GT(carried, 3);
}

// Counts the turns that ended before `then` and were followed by another one.
std::size_t old_turns(Records const& records, Time then) {
    std::size_t old = 0;
    bool ended = false, is_old = false;
    for (wire::RecordPtr const& record : records) {
        auto const* const started = std::get_if<TurnStarted>(&record->event.body);
        if (started && ended && is_old && !started->again) ++old;
        if (started) ended = false;
        if (!std::holds_alternative<TurnEnded>(record->event.body)) continue;
        ended = true;
        is_old = record->event.at < then;
    }
    return old;
}

// After all cuts no turn is too old, and the rest of the session is unchanged.
TEST(Cut, ByAge_RemovesAllOlderTurns) {
    int cuts = 0, carried = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto const sample = wire::testing::story(seed, 240);
        if (sample.state.lifecycle == Lifecycle::deleted) continue;
        Kept kept(sample, seed);
        Duration const lived = kept.now() - kept.all.front()->event.at;
        Keep const keep{.age = lived * (seed % 8) / 8};
        Time const then = kept.now() - *keep.age;
        std::size_t const old = old_turns(kept.stored(), then);
        bool const cut = kept.cut(keep);
        EXPECT_EQ(cut, old > 0);
        if (!cut) continue;
        ++cuts;
        expect_whole(kept);
        EXPECT_FALSE(kept.cut(keep)) << "once is enough";
        EXPECT_EQ(old_turns(kept.stored(), then), 0U);
        carried += kept.stored().front()->event.seq <= kept.state.base.through ? 1 : 0;
        if (HasFailure()) break;
    }
    EXPECT_GT(cuts, 15);
    EXPECT_GT(carried, 3);
}

// With any combination of limits the rest of the session is unchanged, and it is either within its
// limit or nothing more can be removed.
TEST(Cut, ByBytesAndMore_LeavesTheSessionWithoutItsBeginning) {
    int cuts = 0, within = 0;
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto const sample = wire::testing::story(seed, 240);
        if (sample.state.lifecycle == Lifecycle::deleted) continue;
        Kept kept(sample, seed);
        std::uint64_t const before = kept.store.journal_bytes(kept.id).value();
        Keep keep{.bytes = before * (1 + seed % 7) / 8};
        if (seed % 3 == 0) keep.messages = 4 + seed % 30;
        if (seed % 4 == 0) keep.age = (kept.now() - kept.all.front()->event.at) / 2;
        int rounds = 0;
        for (Seq through = 0; kept.cut(keep); through = kept.state.base.through) {
            ++cuts;
            ++rounds;
            EXPECT_GT(kept.state.base.through, through);
            expect_whole(kept);
            if (HasFailure()) return;
        }
        if (rounds == 0) continue;
        bool const fits = kept.store.journal_bytes(kept.id).value() <= *keep.bytes;
        within += fits ? 1 : 0;
        Plan const all = plan_cut(kept.store, kept.id, {.age = Duration(0)}, Time::max()).value();
        EXPECT_TRUE(fits || !all.cut) << "more could be removed";
    }
    EXPECT_GT(cuts, 40);
    EXPECT_GT(within, 20);
}

TEST(Cut, NoLimit_RemovesNothing) {
    auto const sample = wire::testing::story(3, 160);
    Kept kept(sample, 3);
    EXPECT_FALSE(kept.cut({}));
    EXPECT_FALSE(kept.cut({.bytes = kept.store.journal_bytes(kept.id).value()}));
    EXPECT_FALSE(kept.cut({.age = kept.now() - kept.all.front()->event.at}));
}

TEST(Cut, FewerMessagesThanTheLimit_RemovesNothing) {
    auto const sample = wire::testing::story(3, 160);
    Kept kept(sample, 3);
    Keep const keep{.messages = kept.state.messages + 1};
    EXPECT_FALSE(plan_cut(kept.store, kept.id, keep, kept.now()).value().cut);
    SessionId other = kept.id;
    other.bytes[15] ^= 1;
    EXPECT_FALSE(plan_cut(kept.store, other, {.messages = 1}, kept.now()).value().cut);
}

class Cuts : public RunnerTestOn<TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    SessionId talk(int turns) {
        SessionId const session = new_session();
        for (int i = 0; i < turns; ++i) turn(session, "message " + std::to_string(i));
        return session;
    }
    void turn(SessionId session, std::string const& text) {
        (void)ask(session, prompt(text));
        effects.reply();
        loop.run();
    }
    CutReport cut(SessionId session, std::uint64_t most, bool dry_run = false) {
        return cut(session, {.messages = most}, dry_run);
    }
    CutReport cut(SessionId session, Keep const& keep, bool dry_run = false) {
        HistoryCutter cutter(*runner, loop, journal, {}, {});
        std::optional<CutReport> out;
        cutter.cut(session, keep, dry_run, ann(), [&](Result<CutReport> report) {
            ASSERT_TRUE(report);
            out = *report;
        });
        loop.run();
        EXPECT_TRUE(out);
        return out.value_or(CutReport());
    }
};

TEST_F(Cuts, CutSession_ContinuesAlsoAfterARestart) {
    SessionId const session = talk(12);
    EXPECT_GT(cut(session, 10, true).messages, 0u);
    EXPECT_EQ(stored(session).base.through, 0u);
    auto const report = cut(session, 10);
    EXPECT_GE(report.messages, 14u);
    EXPECT_GT(report.bytes, 0u);
    State const now = stored(session);
    EXPECT_LT(now.messages - now.base.messages, 10u);
    EXPECT_EQ(cut(session, 10).messages, 0u);
    turn(session, "again");
    restart();
    turn(session, "and again");
    auto const after = stored(session);
    EXPECT_EQ(after.messages, now.messages + 4);
    EXPECT_TRUE(verify(*journal.store, [](std::uint64_t) {})->findings.empty());
}

TEST_F(Cuts, OutdatedPlan_ChangesNothing) {
    SessionId const session = talk(12);
    auto const plan = plan_cut(*journal.store, session, {.messages = 10}, runner->now()).value();
    ASSERT_TRUE(plan.cut);
    EXPECT_GT(cut(session, 10).messages, 0u);
    Seq const head = stored(session).head;
    EXPECT_NE(ask(session, plan.cut->command).find("precondition_failed"), std::string::npos);
    EXPECT_EQ(stored(session).head, head);
}

// The mail came during a turn that was cancelled: it waits for the next one, which begins after the
// cut.
TEST_F(Cuts, UnreadMailBeforeTheCut_IsKept) {
    SessionId const session = talk(6);
    (void)ask(session, prompt("cancelled"));
    TakeMail mail;
    mail.mail.project = "default";
    mail.mail.text = "read me later";
    mail.mail.wake = Wake::never;
    EXPECT_EQ(ask(session, mail), "applied");
    EXPECT_EQ(ask(session, Cancel{Cancel::Scope::turn, {}}), "applied");
    State const then = stored(session);
    ASSERT_EQ(then.inbox.size(), 1u);
    turn(session, "next");
    EXPECT_GT(cut(session, 4).messages, 0u);
    State const now = stored(session);
    EXPECT_EQ(now.base.through, then.head) << "the cut is where the mail had not been read";
    auto const records = read_records(*journal.store, session, 1, now.head).value();
    wire::History history(session);
    for (wire::RecordPtr const& record : records) history.add(*record);
    ASSERT_TRUE(history.mails().contains(then.inbox[0].seq));
    EXPECT_EQ(history.mails().at(then.inbox[0].seq).what.mail->text, "read me later");
    auto const view = wire::model_view(history, now.head);
    EXPECT_TRUE(std::ranges::any_of(view.messages, [](ViewMessage const& one) {
        return one.parts.text().find("read me later") != std::string::npos;
    }));
}

TEST_F(Cuts, RetriedTurn_IsNotSplit) {
    SessionId const session = talk(6);
    (void)ask(session, prompt("please"));
    auto const& ask_now = effects.requests.back().request.ask;
    ModelFailure const failure{ask_now.turn, ask_now.step, ask_now.attempt, {"model_failed", "401"},
                               false,        std::nullopt};
    auto done = std::move(effects.requests.back().done);
    effects.requests.pop_back();
    done(failure);
    loop.run();
    ASSERT_FALSE(stored(session).turn);
    TurnNo const failed = stored(session).last_turn->no;
    EXPECT_EQ(ask(session, Move{Move::To::retry, ""}), "applied");
    ASSERT_TRUE(stored(session).turn) << "the turn continues";
    ASSERT_EQ(stored(session).turn->no, failed);
    (void)cut(session, 2);
    EXPECT_GT(stored(session).base.through, 0u);
    EXPECT_LT(stored(session).base.turn, failed);
}

TEST_F(Cuts, KeyOfACutRequest_SaysHistoryGoneAtOnce) {
    SessionId const session = new_session();
    auto const keyed = [&] {
        runner->command(session, prompt("first"), ann("0123456789abcdef0123456789abcdef"),
                        [this](Result<Answer> answer) { answers.push_back(answer_of(answer)); });
        loop.run();
        return answers.back();
    };
    EXPECT_EQ(keyed(), "applied");
    effects.reply();
    loop.run();
    EXPECT_EQ(keyed(), "duplicate");
    for (int i = 0; i < 6; ++i) turn(session, "more");
    EXPECT_GT(cut(session, 4).messages, 0u);
    std::string const resident = keyed();
    restart();
    EXPECT_EQ(resident, "history_gone");
    EXPECT_EQ(keyed(), resident) << "the next process says the same";
}

TEST_F(Cuts, StoreFull_CutFails) {
    SessionId const session = talk(12);
    HistoryCutter cutter(*runner, loop, journal, {}, {});
    std::optional<Result<CutReport>> out;
    journal.fault = Fault::lost;
    journal.fault_code = Code::store_full;
    cutter.cut(session, {.messages = 10}, false, ann(),
               [&](Result<CutReport> report) { out = report; });
    loop.run();
    ASSERT_TRUE(out);
    ASSERT_FALSE(*out);
    EXPECT_EQ(out->error().code, Code::store_full);
    EXPECT_GT(cut(session, 10).messages, 0u);
}

TEST_F(Cuts, EndOfATurn_CutsTheSession) {
    std::uint64_t gone = 0;
    HistoryCutter cutter(*runner, loop, journal, {.messages = 10},
                         [&](SessionId, CutReport const& cut) { gone += cut.messages; });
    observer.on_append = [&](Lane const& lane, Records const& records) {
        cutter.appended(lane, records);
    };
    SessionId const session = talk(12);
    State const now = stored(session);
    EXPECT_LT(now.messages - now.base.messages, 10u);
    EXPECT_EQ(gone, now.base.messages);
    observer.on_append = {};
}

class CutsByThemselves : public Cuts {
protected:
    void TearDown() override { observer.on_append = {}; }
    void keep(Keep const& what) {
        cutter.emplace(*runner, loop, journal, what, HistoryCutter::OnCut());
        observer.on_append = [this](Lane const& lane, Records const& records) {
            cutter->appended(lane, records);
        };
    }
    std::optional<HistoryCutter> cutter;
};

TEST_F(CutsByThemselves, OldTurns_AreCutWhenAnotherEnds) {
    using std::chrono::minutes;
    keep({.age = minutes(60)});
    SessionId const session = talk(3);
    loop.advance(minutes(30));
    turn(session, "fourth");
    EXPECT_EQ(stored(session).base.turn, 0U);
    loop.advance(minutes(45));
    turn(session, "fifth");
    EXPECT_EQ(stored(session).base.turn, 3U) << "the fourth is 45 minutes old";
    EXPECT_EQ(message_count(stored(session)), 4U);
    loop.advance(minutes(600));
    EXPECT_EQ(stored(session).base.turn, 3U) << "no turn ends";
    turn(session, "sixth");
    EXPECT_EQ(stored(session).base.turn, 5U) << "the newest is kept";
    EXPECT_TRUE(verify(*journal.store, [](std::uint64_t) {})->findings.empty());
}

TEST_F(CutsByThemselves, OldTurns_AfterARestart_AreCut) {
    using std::chrono::minutes;
    SessionId const session = talk(3);
    loop.advance(minutes(90));
    restart();
    keep({.age = minutes(60)});
    loop.run();
    EXPECT_EQ(stored(session).base.turn, 0U) << "the start plans no cut";
    turn(session, "fourth");
    EXPECT_EQ(stored(session).base.turn, 3U);
}

TEST_F(CutsByThemselves, ChangedKeep_CountsFromTheNextTurn) {
    using std::chrono::minutes;
    keep({.age = minutes(600)});
    SessionId const session = talk(3);
    loop.advance(minutes(90));
    cutter->set_keep({.age = minutes(60)});
    loop.run();
    EXPECT_EQ(stored(session).base.turn, 0U) << "no turn ends";
    turn(session, "fourth");
    EXPECT_EQ(stored(session).base.turn, 3U) << "what was seen for the former age is forgotten";
    cutter->set_keep({});
    loop.advance(minutes(90));
    turn(session, "fifth");
    EXPECT_EQ(stored(session).base.turn, 3U);
}

TEST_F(CutsByThemselves, LargeJournal_LosesItsOldestTurns) {
    constexpr std::uint64_t most = 6'000;
    keep({.bytes = most});
    SessionId const session = talk(3);
    EXPECT_EQ(stored(session).base.turn, 0U);
    for (int i = 0; i < 60; ++i) {
        turn(session, "message " + std::to_string(i));
        ASSERT_LE(journal.store->journal_bytes(session).value(), most + 1'500) << "turn " << i;
    }
    State const now = stored(session);
    EXPECT_GT(now.base.turn, 30U);
    EXPECT_LT(now.base.turn, now.last_turn->no);
    EXPECT_TRUE(verify(*journal.store, [](std::uint64_t) {})->findings.empty());
}

TEST_F(Cuts, AllTurnsAreOld_NewestIsKept) {
    SessionId const session = talk(5);
    loop.advance(std::chrono::minutes(5));
    Keep const keep{.age = std::chrono::minutes(1)};
    EXPECT_EQ(cut(session, keep, true).messages, 8U) << "a dry run removes nothing";
    EXPECT_EQ(stored(session).base.through, 0U);
    EXPECT_EQ(cut(session, keep).messages, 8U);
    EXPECT_EQ(cut(session, keep).messages, 0U);
    EXPECT_EQ(message_count(stored(session)), 2U);
}

TEST_F(Cuts, ByAge_RunningTurnAndQueueAreKept) {
    SessionId const session = talk(4);
    (void)ask(session, prompt("runs"));
    (void)ask(session, prompt("waits"));
    loop.advance(std::chrono::minutes(5));
    EXPECT_EQ(cut(session, {.age = std::chrono::minutes(1)}).messages, 8U);
    State const now = stored(session);
    ASSERT_TRUE(now.turn);
    EXPECT_EQ(now.queue.size(), 1U);
    EXPECT_EQ(message_count(now), 2U);
    effects.reply();
    loop.run();
    EXPECT_EQ(stored(session).turn->no, 6U) << "the queued prompt has started a turn";
}

}  // namespace
}  // namespace dormouse::runner::testing
