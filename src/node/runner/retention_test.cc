#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

namespace dormouse::runner {
namespace {

using namespace session;

class Retention
    : public testing::RunnerTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    Retention() {
        completed_after = std::chrono::hours(1);
        restart();
        observer.on_swept = [this](std::size_t deleted) { swept.push_back(deleted); };
        runner->start();
    }
    SessionId completed_session() {
        SessionId const session = new_session();
        EXPECT_EQ(ask(session, Move{Move::To::end, ""}), "applied");
        return session;
    }
    [[nodiscard]] std::string status(SessionId session) {
        return journal.store->load(session).value().row->status;
    }
    void pass(Duration time) { loop.advance(time); }

    std::vector<std::size_t> swept;
};

TEST_F(Retention, OtherProcessLeads_NothingIsDeleted) {
    nodes.first = false;
    SessionId const old = completed_session();
    pass(std::chrono::hours(2));
    EXPECT_EQ(status(old), "completed");
    nodes.first = true;
    pass(std::chrono::minutes(2));
    EXPECT_EQ(status(old), "deleted");
}

TEST_F(Retention, CompletedSession_AfterItsTime_IsDeleted) {
    SessionId const old = completed_session();
    SessionId const active = new_session();
    pass(std::chrono::minutes(30));
    SessionId const young = completed_session();
    pass(std::chrono::minutes(29));
    EXPECT_EQ(status(old), "completed");
    pass(std::chrono::minutes(2));
    EXPECT_EQ(status(old), "deleted");
    EXPECT_EQ(status(young), "completed");
    EXPECT_EQ(status(active), "active");
    EXPECT_EQ(swept, std::vector<std::size_t>{1});
    EXPECT_EQ(ask(old, prompt("hello")), "not_found");
}

TEST_F(Retention, ManySessions_AreDeletedInBatches) {
    for (int i = 0; i < 130; ++i) (void)completed_session();
    pass(std::chrono::minutes(62));
    EXPECT_EQ(swept, (std::vector<std::size_t>{64, 64, 2}));
}

TEST_F(Retention, ReopenedSession_IsKept) {
    SessionId const session = completed_session();
    pass(std::chrono::minutes(10));
    Prompt again = prompt("continue");
    again.reopen = true;
    EXPECT_EQ(ask(session, again), "applied");
    pass(std::chrono::minutes(100));
    EXPECT_EQ(status(session), "active");
    EXPECT_TRUE(swept.empty());
}

TEST_F(Retention, DeleteOnlyCompleted_ActiveSession_IsRefused) {
    SessionId const session = new_session();
    EXPECT_EQ(ask(session, Delete{.only_completed = true}), "wrong_state");
    EXPECT_EQ(status(session), "active");
}

TEST_F(Retention, SessionReopenedDuringSweep_IsNotDeleted) {
    SessionId const session = completed_session();
    pass(std::chrono::minutes(59));
    journal.hold_reads = true;
    pass(std::chrono::minutes(2));  // the store has found it; the answer is held
    Prompt again = prompt("continue");
    again.reopen = true;
    EXPECT_EQ(ask(session, again), "applied");
    journal.release_reads();
    EXPECT_EQ(status(session), "active");
    EXPECT_TRUE(swept.empty());
}

TEST_F(Retention, NotConfigured_DeletesNothing) {
    completed_after.reset();
    restart();
    runner->start();
    SessionId const session = completed_session();
    pass(std::chrono::hours(5));
    EXPECT_EQ(status(session), "completed");
}

// A new age counts from now on, and there is one sweep as before.
TEST_F(Retention, ChangedAge_IsUsedAtOnce) {
    SessionId const old = completed_session();
    pass(std::chrono::minutes(10));
    runner->apply({.completed_after = std::chrono::minutes(20)});
    runner->apply({.completed_after = std::chrono::minutes(5)});
    loop.run();
    EXPECT_EQ(status(old), "deleted");
    EXPECT_EQ(swept, std::vector<std::size_t>{1});
    runner->apply({});
    SessionId const kept = completed_session();
    pass(std::chrono::hours(5));
    EXPECT_EQ(status(kept), "completed");
    runner->apply({.completed_after = std::chrono::hours(1)});
    loop.run();
    EXPECT_EQ(status(kept), "deleted");
}

TEST_F(Retention, AgeChangedDuringASweep_NothingIsDeletedTwice) {
    SessionId const old = completed_session();
    pass(std::chrono::minutes(59));
    journal.hold_reads = true;
    pass(std::chrono::minutes(2));
    runner->apply({.completed_after = std::chrono::hours(9)});
    journal.release_reads();
    loop.run();
    EXPECT_EQ(status(old), "completed") << "the former sweep has ended";
    pass(std::chrono::hours(9));
    EXPECT_EQ(swept, std::vector<std::size_t>{1});
}

TEST_F(Retention, AgeSetBeforeTheStart_DeletesNothingUntilThen) {
    completed_after.reset();
    restart();
    runner->apply({.completed_after = Duration(1'000)});
    loop.run();
    SessionId const old = completed_session();
    pass(std::chrono::hours(1));
    EXPECT_EQ(status(old), "completed");
    runner->start();
    loop.run();
    EXPECT_EQ(status(old), "deleted");
}

class AuditAge : public Retention {
protected:
    [[nodiscard]] std::vector<port::AuditRow> lines() {
        return journal.store->audit(0, 1'000).value();
    }
    void restart_with(std::optional<Duration> age) {
        completed_after.reset();
        audit_after = age;
        restart();
        runner->start();
    }
    [[nodiscard]] std::vector<std::string> findings() {
        std::vector<std::string> out;
        auto const report = verify(*journal.store, [](std::uint64_t) {}).value();
        for (auto const& one : report.findings) out.push_back(one.what);
        return out;
    }
};

TEST_F(AuditAge, OldLines_AreRemovedAndTheChainStaysValid) {
    restart_with(std::chrono::hours(1));
    (void)completed_session();
    (void)completed_session();
    pass(std::chrono::minutes(50));
    (void)completed_session();
    ASSERT_EQ(lines().size(), 3U);
    pass(std::chrono::minutes(71));
    auto const left = lines();
    ASSERT_EQ(left.size(), 2U) << "the newest old line, and the line about the removal";
    EXPECT_EQ(left[0].n, 3U);
    auto const trim = wire::read_trimmed(left[1].line);
    ASSERT_TRUE(trim) << left[1].line;
    EXPECT_EQ(trim->lines, 2U);
    EXPECT_EQ(trim->through, 2U);
    EXPECT_EQ(findings(), std::vector<std::string>{});
    pass(std::chrono::hours(30));
    auto const later = lines();
    EXPECT_LE(later.size(), 2U);
    EXPECT_LE(later.back().n, 6U) << "lines about removed lines are not removed alone";
    EXPECT_EQ(findings(), std::vector<std::string>{});
}

TEST_F(AuditAge, ChangedAge_IsUsedAtOnce) {
    restart_with({});
    for (int i = 0; i < 3; ++i) (void)completed_session();
    pass(std::chrono::hours(5));
    runner->apply({.audit_after = std::chrono::hours(1)});
    loop.run();
    EXPECT_EQ(lines().size(), 2U);
    runner->apply({});
    (void)completed_session();
    pass(std::chrono::hours(5));
    EXPECT_EQ(lines().size(), 3U);
}

TEST_F(AuditAge, NoAge_KeepsAllLines) {
    restart_with({});
    (void)completed_session();
    pass(std::chrono::hours(5));
    EXPECT_EQ(lines().size(), 1U);
}

TEST_F(AuditAge, MissingBeginning_IsFound) {
    restart_with({});
    for (int i = 0; i < 3; ++i) (void)completed_session();
    ASSERT_TRUE(journal.store->trim_audit(1, "{}"));
    EXPECT_EQ(findings(), std::vector<std::string>{"audit: the lines before line 2 are missing"});
}

TEST_F(AuditAge, WrongHashOfRemovedLines_IsFound) {
    restart_with({});
    for (int i = 0; i < 3; ++i) (void)completed_session();
    wire::AuditTrim const forged{1, 1, Sha256{}};
    ASSERT_TRUE(journal.store->trim_audit(1, wire::trimmed_line(forged, Time{}, {})));
    EXPECT_EQ(findings(), std::vector<std::string>{"audit: line 2 or one before it was changed"});
}

}  // namespace
}  // namespace dormouse::runner
