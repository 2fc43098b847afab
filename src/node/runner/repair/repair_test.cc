#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/state_json.h"

namespace dormouse::runner::testing {
namespace {

using namespace session;

constexpr Duration day{24 * 3'600'000};

class Repairs : public RunnerTestOn<TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    store::MemoryDisk::Session& rows(SessionId session) {
        return journal.disk->sessions.at(session.number());
    }
    RepairReport repair(bool dry_run = false) {
        std::optional<RepairReport> out;
        runner->repair(0, dry_run, ann(), [&](Result<RepairReport> report) {
            ASSERT_TRUE(report);
            out = std::move(*report);
        });
        loop.run();
        EXPECT_TRUE(out);
        return out.value_or(RepairReport());
    }
    [[nodiscard]] std::vector<Finding> findings() {
        return verify(*journal.store, [](std::uint64_t) {})->findings;
    }
    // Makes every row of the session differ from its journal.
    void spoil(SessionId session) {
        auto& kept = rows(session);
        kept.wake_at.reset();
        std::erase_if(journal.disk->wakeups,
                      [&](auto const& one) { return one.second == session.number(); });
        kept.pending.begin()->second.status = port::PendingStatus::completed;
        kept.pending[{9, 9}] = kept.pending.begin()->second;
        kept.pending[{9, 9}].call = 9;
        kept.pending[{9, 9}].generation = 9;
        kept.keys["ighost"] = 1;
        kept.row.title = "of another";
    }
};

TEST_F(Repairs, HealthySession_HasNoFindings) {
    SessionId const session = waiting_session(day);
    Seq const head = stored(session).head;
    auto const report = repair();
    EXPECT_EQ(report.sessions, 1u);
    EXPECT_GT(report.events, 0u);
    EXPECT_TRUE(report.found.empty());
    EXPECT_EQ(stored(session).head, head);
}

TEST_F(Repairs, DamagedRows_AreRebuiltAndTheJournalSaysSo) {
    SessionId const session = waiting_session(day);
    (void)ask(session, Change{.title = "mine", .alias = {}, .labels = {}, .if_match = {}});
    spoil(session);
    ASSERT_FALSE(findings().empty());
    auto const report = repair();
    ASSERT_EQ(report.found.size(), 1u);
    EXPECT_TRUE(report.found[0].repaired);
    EXPECT_TRUE(findings().empty());
    EXPECT_EQ(rows(session).row.title, "mine");
    EXPECT_TRUE(rows(session).wake_at);
    auto const records = read_records(*journal.store, session, 1, 1'000).value();
    auto const* entry = std::get_if<Repaired>(&records.back()->event.body);
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->by.name, "ann");
    EXPECT_NE(entry->what.find("pending row"), std::string::npos);
}

TEST_F(Repairs, LostDeadline_Repaired_ExpiresTheCall) {
    SessionId const session = waiting_session(Duration(5'000));
    restart(0);
    spoil(session);
    runner->start();
    (void)repair();
    loop.advance(Duration(10'000));
    EXPECT_EQ(stored(session).calls.size(), 0u) << "its call has expired";
}

TEST_F(Repairs, DryRun_ChangesNothing) {
    SessionId const session = waiting_session(day);
    spoil(session);
    Seq const head = stored(session).head;
    auto const report = repair(true);
    ASSERT_EQ(report.found.size(), 1u);
    EXPECT_TRUE(report.found[0].repairable);
    EXPECT_FALSE(report.found[0].repaired);
    EXPECT_EQ(stored(session).head, head);
    EXPECT_FALSE(findings().empty());
}

TEST_F(Repairs, SnapshotThatDiffersFromTheFold_IsReplaced) {
    SessionId const session = waiting_session(day);
    State wrong = stored(session);
    wrong.title = "never";
    rows(session).snapshot =
        port::SnapshotRow{wrong.head, wire::snapshot_format, wire::write_state(wrong)};
    restart();
    ASSERT_FALSE(findings().empty());
    (void)repair();
    EXPECT_TRUE(findings().empty());
    EXPECT_EQ(stored(session).title, "");
}

TEST_F(Repairs, JournalWithAGap_IsReportedAndNotChanged) {
    SessionId const session = waiting_session(day);
    auto& frames = rows(session).frames;
    frames.erase(std::next(frames.begin()));
    auto const left = frames.size();
    auto const report = repair();
    ASSERT_EQ(report.found.size(), 1u);
    EXPECT_FALSE(report.found[0].repairable);
    EXPECT_FALSE(report.found[0].repaired);
    EXPECT_EQ(frames.size(), left);
}

TEST_F(Repairs, CommandDuringRepair_UsesTheRebuiltRows) {
    SessionId const session = waiting_session(day);
    runner->command(session, prompt("again"), ann("0123456789abcdef0123456789abcdef"),
                    [](Result<Answer> const&) {});
    loop.run();
    restart();
    rows(session).keys.clear();  // the earlier request is no longer found
    std::vector<std::string> results;
    auto const note = [&](Result<Answer> const& answer) { results.push_back(answer_of(answer)); };
    runner->command(session, Repair{"keys"}, ann(), note);
    runner->command(session, prompt("again"), ann("0123456789abcdef0123456789abcdef"), note);
    loop.run();
    EXPECT_EQ(results, (std::vector<std::string>{"applied", "duplicate"}));
}

}  // namespace
}  // namespace dormouse::runner::testing
