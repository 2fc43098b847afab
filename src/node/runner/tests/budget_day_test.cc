// Budgets of a day through the store: sums of several sessions, over restarts.
#include "runner/testing/runner_fixture.h"
#include "session/budget/budget.h"
#include "store/memory/memory_store.h"

#include <memory>
#include <string>
#include <vector>

namespace dormouse::runner::testing {
namespace {

using namespace session;

// Fails the next `failures` searches for calls, and counts what watching budgets costs.
class CallsOfADay : public store::MemoryStore {
public:
    using MemoryStore::MemoryStore;
    Result<std::vector<port::PendingListed>> list_pending(
        port::PendingFilter const& filter) override {
        ++searches;
        if (failures > 0) {
            --failures;
            return fail(Code::store_unavailable, "planted");
        }
        return MemoryStore::list_pending(filter);
    }
    Result<std::int64_t> day_mark(std::int64_t day, std::string const& suffix) override {
        ++marks;
        return MemoryStore::day_mark(day, suffix);
    }

    int failures = 0;
    int searches = 0;
    int marks = 0;
};

class BudgetsOfADay : public RunnerTestOn<TestJournal<CallsOfADay, store::MemoryDisk>> {
protected:
    BudgetsOfADay() {
        Budget const steps{{BudgetPer::agent_day, BudgetKind::steps, {}}, 2};
        effects.limits = std::make_shared<std::vector<Budget>>(std::vector{steps});
    }
    // A new session that takes one step.
    SessionId spend() {
        SessionId const session = new_session();
        (void)ask(session, prompt("please"));
        effects.reply();
        loop.run();
        return session;
    }
    // A new session that asks about the budget.
    SessionId held() {
        SessionId const session = new_session();
        (void)ask(session, prompt("please"));
        EXPECT_TRUE(asks(session));
        return session;
    }
    [[nodiscard]] bool asks(SessionId session) {
        auto const state = stored(session);
        return state.turn && state.turn->budget_call != 0;
    }
    [[nodiscard]] std::int64_t sum(std::string const& name) {
        std::vector const names{name};
        return journal.store->day_sums(day_of(clock.now()), names)->front();
    }
    std::string raise(SessionId session) {
        auto const state = stored(session);
        Submission what;
        what.kind = SubmissionKind::decision;
        what.approved = true;
        PendingId const pending = state.calls.at(state.turn->budget_call).pending;
        return ask(session, Submit{pending, what, "api", "", std::nullopt});
    }
    // Two sessions ask. The raise by the first is stored, and the search for the second fails.
    std::pair<SessionId, SessionId> raise_whose_search_fails() {
        (void)spend();
        (void)spend();
        std::pair const asking{held(), held()};
        journal.store->failures = 1;
        EXPECT_EQ(raise(asking.first), "applied");
        return asking;
    }
};

TEST_F(BudgetsOfADay, Steps_OfAllSessions_AreCountedOnce) {
    (void)spend();
    restart();
    (void)spend();
    EXPECT_EQ(sum("agent/demo/steps"), 2);
    restart();
    SessionId const third = held();
    EXPECT_EQ(stored(third).calls.begin()->second.spec.budget->used, 2);
}

TEST_F(BudgetsOfADay, Raise_LetsAllContinue) {
    (void)spend();
    (void)spend();
    SessionId const first = held();
    SessionId const second = held();
    EXPECT_EQ(raise(first), "applied");
    loop.run();
    EXPECT_EQ(sum("agent/demo/steps/raised"), 2);
    EXPECT_FALSE(asks(first));
    EXPECT_FALSE(asks(second));
    EXPECT_EQ(effects.requests.size(), 2U);
}

TEST_F(BudgetsOfADay, Raise_OutlivesARestart) {
    (void)spend();
    (void)spend();
    (void)raise(held());
    effects.reply();
    restart();
    (void)spend();
    EXPECT_EQ(sum("agent/demo/steps"), 4);
    (void)held();
}

TEST_F(BudgetsOfADay, Raise_WhoseSearchFails_LetsAllContinueLater) {
    runner->start();
    auto const [first, second] = raise_whose_search_fails();
    EXPECT_FALSE(asks(first));
    EXPECT_TRUE(asks(second));
    loop.advance(Duration(25'000));
    EXPECT_FALSE(asks(second));
}

TEST_F(BudgetsOfADay, ProcessThatEndsAfterTheRaise_TheNextOneLetsAllContinue) {
    auto const second = raise_whose_search_fails().second;
    restart();
    EXPECT_TRUE(asks(second));
    runner->start();
    loop.advance(Duration(1'000));
    EXPECT_FALSE(asks(second));
}

// It was stored while the process that leads did not see it.
TEST_F(BudgetsOfADay, RaiseOfAnotherProcess_LetsAllContinue) {
    runner->start();
    (void)spend();
    (void)spend();
    SessionId const session = held();
    loop.advance(Duration(25'000));
    EXPECT_TRUE(asks(session));
    journal.disk->day_sums[{day_of(clock.now()), "agent/demo/steps/raised"}] += 5;
    loop.advance(Duration(25'000));
    EXPECT_FALSE(asks(session));
}

TEST_F(BudgetsOfADay, OtherConfiguration_LetsAllContinue) {
    (void)spend();
    (void)spend();
    SessionId const session = held();
    Budget const more{{BudgetPer::agent_day, BudgetKind::steps, {}}, 4};
    effects.limits = std::make_shared<std::vector<Budget>>(std::vector{more});
    runner->budgets_changed();
    loop.run();
    EXPECT_FALSE(asks(session));
}

TEST_F(BudgetsOfADay, RemovedFromTheConfiguration_LetsAllContinue) {
    (void)spend();
    (void)spend();
    SessionId const session = held();
    effects.limits = std::make_shared<std::vector<Budget>>();
    runner->budgets_changed();
    loop.run();
    EXPECT_FALSE(asks(session));
    EXPECT_EQ(effects.requests.size(), 1U);
}

// Another process leads, and may still have the budget.
TEST_F(BudgetsOfADay, ProcessStartsWithoutTheBudget_LetsAllContinue) {
    (void)spend();
    (void)spend();
    SessionId const session = held();
    effects.limits = std::make_shared<std::vector<Budget>>();
    nodes.first = false;
    restart();
    EXPECT_TRUE(asks(session));
    runner->start();
    loop.advance(Duration(1'000));
    EXPECT_FALSE(asks(session));
    EXPECT_EQ(effects.requests.size(), 1U);
}

TEST_F(BudgetsOfADay, WithoutARaise_OneQueryInTenSeconds) {
    runner->start();
    (void)spend();
    (void)spend();
    SessionId const session = held();
    loop.advance(Duration(10'000));
    auto const before = std::pair(journal.store->searches, journal.store->marks);
    auto const commits = journal.commits.size();
    loop.advance(Duration(60'000));
    EXPECT_EQ(journal.store->searches, before.first);
    EXPECT_LE(journal.store->marks, before.second + 6);
    EXPECT_EQ(journal.commits.size(), commits);
    EXPECT_TRUE(asks(session));
}

TEST_F(BudgetsOfADay, WithoutSuchABudget_NothingIsCounted) {
    effects.limits = {};
    (void)spend();
    EXPECT_EQ(sum("agent/demo/steps"), 0);
}

}  // namespace
}  // namespace dormouse::runner::testing
