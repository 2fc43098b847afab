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
        runner->on_swept([this](std::size_t deleted) { swept.push_back(deleted); });
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

TEST_F(Retention, CompletedSessionsGoWhenTheirTimeIsUpAndNoOthers) {
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

TEST_F(Retention, ManyGoBatchByBatch) {
    for (int i = 0; i < 130; ++i) (void)completed_session();
    pass(std::chrono::minutes(62));
    EXPECT_EQ(swept, (std::vector<std::size_t>{64, 64, 2}));
}

TEST_F(Retention, OneThatWasTakenUpAgainStays) {
    SessionId const session = completed_session();
    pass(std::chrono::minutes(10));
    Prompt again = prompt("go on");
    again.reopen = true;
    EXPECT_EQ(ask(session, again), "applied");
    pass(std::chrono::minutes(100));
    EXPECT_EQ(status(session), "active");
    EXPECT_TRUE(swept.empty());
}

TEST_F(Retention, WhatIsNoLongerCompletedIsNotDeletedBetweenTheQuestionAndTheCommand) {
    SessionId const session = new_session();
    EXPECT_EQ(ask(session, Delete{.only_completed = true}), "wrong_state");
    EXPECT_EQ(status(session), "active");
}

TEST_F(Retention, IsOffUnlessItIsAskedFor) {
    completed_after.reset();
    restart();
    runner->start();
    SessionId const session = completed_session();
    pass(std::chrono::hours(5));
    EXPECT_EQ(status(session), "completed");
}

}  // namespace
}  // namespace dormouse::runner
