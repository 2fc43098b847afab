// Budgets of a day: the store's sums say what all sessions have used.
#include "session/budget/budget.h"
#include "session/testing/session_fixture.h"

namespace dormouse::session::testing {
namespace {

// Each reply of the fixture uses 15 tokens.
class BudgetOfDayTest : public SessionTest {
protected:
    BudgetOfDayTest() { totals.emplace(); }

    void limit(BudgetPer per, std::int64_t tokens, std::optional<Duration> timeout = {}) {
        Budget one{{per, BudgetKind::tokens, {}}, tokens};
        one.timeout = timeout;
        budgets = std::make_shared<std::vector<Budget>>(std::vector{one});
    }
    [[nodiscard]] BudgetOwner owner() const { return {state.project, state.agent}; }
    [[nodiscard]] BudgetName const& name() const { return budgets->front().name; }
    // Sets the sums of the store, which include what this session has used.
    void counts(std::int64_t used, std::int64_t raised = 0) {
        totals = {{total_name(name(), owner()), used}, {raises_name(name(), owner()), raised}};
    }
    // Begins a turn that reaches its budget before its second step.
    void reach() {
        limit(BudgetPer::agent_day, 100);
        asks_for({plain()});
        counts(100);
        EXPECT_EQ(types(finish(1)), "tool_finished budget_reached");
    }
    [[nodiscard]] PendingId budget_call_id() const { return pending(turn().budget_call); }
    [[nodiscard]] Pause const& pause() const { return *call(turn().budget_call).pause; }
};

TEST_F(BudgetOfDayTest, WhatOthersUsed_Counts) {
    reach();
    EXPECT_EQ(pause().terms.message,
              "The agent has used 100 tokens today; its budget is 100 tokens. Raise it, or end "
              "the turn?");
}

TEST_F(BudgetOfDayTest, FirstStepOfASession_IsHeldToo) {
    limit(BudgetPer::project_day, 100);
    (void)create();
    counts(101);
    EXPECT_EQ(types(prompt("please")), "input_received turn_started budget_reached");
    EXPECT_EQ(pause().terms.message,
              "The project has used 101 tokens today; its budget is 100 tokens. Raise it, or end "
              "the turn?");
}

TEST_F(BudgetOfDayTest, SomethingLeft_Continues) {
    limit(BudgetPer::agent_day, 100);
    asks_for({plain()});
    counts(99);
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
}

TEST_F(BudgetOfDayTest, WhatTheDecisionItselfUses_Counts) {
    limit(BudgetPer::agent_day, 100);
    (void)create();
    counts(86);
    (void)prompt("please");
    (void)prompt("more", PromptMode::queue);
    EXPECT_EQ(types(reply()), "model_replied turn_ended turn_started budget_reached");
    EXPECT_EQ(call(turn().budget_call).spec.budget->used, 101);
}

TEST_F(BudgetOfDayTest, UnknownTotals_AreNotChecked) {
    limit(BudgetPer::agent_day, 1);
    totals.reset();
    asks_for({plain()});
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
}

TEST_F(BudgetOfDayTest, Question_EndsWithItsDay) {
    reach();
    EXPECT_EQ(pause().deadline, next_day(now));
    EXPECT_EQ(wake_at(state), next_day(now));
    counts(0);
    EXPECT_EQ(types(later(next_day(now) - now)), "expired model_requested");
    EXPECT_EQ(turn().step, 2U);
}

TEST_F(BudgetOfDayTest, NextDayIsUsedUpToo_AsksAgain) {
    reach();
    counts(100);
    EXPECT_EQ(types(later(next_day(now) - now)), "expired budget_reached");
}

TEST_F(BudgetOfDayTest, TimeoutBeforeTheNextDay_EndsTheTurn) {
    limit(BudgetPer::agent_day, 100, Duration(1'000));
    asks_for({plain()});
    counts(100);
    now = next_day(now) + Duration(1);
    (void)finish(1);
    EXPECT_EQ(types(later(Duration(1'000))), "expired turn_ended");
}

TEST_F(BudgetOfDayTest, Raise_ContinuesAtOnce_AndIsNoPartOfTheSession) {
    reach();
    EXPECT_EQ(types(submit(budget_call_id(), decision(true))),
              "submitted budget_raised model_requested");
    EXPECT_TRUE(state.raised.empty());
    EXPECT_TRUE(turn().raised.empty());
}

TEST_F(BudgetOfDayTest, Raise_CountsFromWhatIsUsedNow) {
    reach();
    counts(150);
    (void)submit(budget_call_id(), decision(true));
    auto const& raised = std::get<BudgetRaised>(archive.log[archive.log.size() - 2].body);
    EXPECT_EQ(raised.what.amount, 150) << "50 beyond the limit, and the budget's own 100";
}

TEST_F(BudgetOfDayTest, RaiseFromAnotherSession_WithdrawsTheQuestion) {
    reach();
    EXPECT_EQ(types(tick()), "");
    counts(100, 50);
    EXPECT_EQ(types(tick()), "cancelled model_requested");
    counts(150, 50);
    (void)reply({plain()});
    EXPECT_EQ(types(finish(3)), "tool_finished budget_reached");
}

TEST_F(BudgetOfDayTest, BudgetRemoved_WithdrawsTheQuestion) {
    reach();
    budgets = std::make_shared<std::vector<Budget>>();
    totals.reset();
    auto const d = tick();
    EXPECT_EQ(types(d), "cancelled model_requested");
    EXPECT_EQ(first<Cancelled>(d).why, "the budget was removed");
}

TEST_F(BudgetOfDayTest, BudgetOfOtherProjectsNow_WithdrawsTheQuestion) {
    reach();
    Budget other = budgets->front();
    other.projects = {"elsewhere"};
    budgets = std::make_shared<std::vector<Budget>>(std::vector{other});
    EXPECT_EQ(types(tick()), "cancelled model_requested");
}

TEST_F(BudgetOfDayTest, SumsNotRead_TheQuestionStays) {
    reach();
    totals.reset();
    EXPECT_EQ(types(tick()), "");
}

TEST_F(BudgetOfDayTest, AgentNotKnown_TheQuestionStays) {
    reach();
    budgets.reset();
    EXPECT_EQ(types(tick()), "");
}

TEST_F(BudgetOfDayTest, Denial_EndsTheTurn) {
    reach();
    EXPECT_EQ(types(submit(budget_call_id(), decision(false))), "submitted turn_ended");
}

TEST_F(BudgetOfDayTest, Restart_WhilePaused_AsksNothingTwice) {
    reach();
    EXPECT_EQ(types(restart()), "");
    counts(0);
    EXPECT_EQ(types(later(next_day(now) - now)), "expired model_requested");
}

TEST_F(BudgetOfDayTest, OfAnotherProcess_TheQuestionIsWithdrawn_TheDriverContinues) {
    reach();
    counts(0);
    drives = false;
    EXPECT_EQ(types(tick()), "cancelled");
    drives = true;
    EXPECT_EQ(types(tick()), "model_requested");
}

TEST(DayTest, Days_AreThoseOfUtc) {
    EXPECT_EQ(day_of(from_ms(0)), 0);
    EXPECT_EQ(day_of(from_ms(86'399'999)), 0);
    EXPECT_EQ(day_of(from_ms(86'400'000)), 1);
    EXPECT_EQ(next_day(from_ms(86'400'000)), from_ms(172'800'000));
}

TEST(DayTest, Sums_AreNamedByOwnerAndAmount) {
    BudgetOwner const owner{"shop", "ops"};
    EXPECT_EQ(total_name({BudgetPer::agent_day, BudgetKind::steps, {}}, owner), "agent/ops/steps");
    EXPECT_EQ(total_name({BudgetPer::project_day, BudgetKind::cost, "USD"}, owner),
              "project/shop/cost/USD");
    EXPECT_EQ(raises_name({BudgetPer::agent_day, BudgetKind::steps, {}}, owner),
              "agent/ops/steps/raised");
}

}  // namespace
}  // namespace dormouse::session::testing
