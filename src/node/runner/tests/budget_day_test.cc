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

class BudgetsOfADay : public RunnerTestOn<TestJournal<store::MemoryStore, store::MemoryDisk>> {
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

TEST_F(BudgetsOfADay, WithoutSuchABudget_NothingIsCounted) {
    effects.limits = {};
    (void)spend();
    EXPECT_EQ(sum("agent/demo/steps"), 0);
}

}  // namespace
}  // namespace dormouse::runner::testing
