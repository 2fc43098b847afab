#include "session/budget/budget.h"

#include "session/testing/session_fixture.h"

namespace dormouse::session::testing {
namespace {

// Each reply of the fixture uses 15 tokens.
class BudgetTest : public SessionTest {
protected:
    void limit(BudgetPer per, BudgetKind kind, std::int64_t amount) {
        one_ = {{per, kind, kind == BudgetKind::cost ? "USD" : ""}, amount};
        set();
    }
    void set() { budgets = std::make_shared<std::vector<Budget>>(std::vector{one_}); }
    // A turn whose budget is used up after its first step: the tool has its result.
    void reach() {
        limit(BudgetPer::turn, BudgetKind::tokens, 15);
        asks_for({plain()});
        (void)finish(1);
    }
    [[nodiscard]] PendingId budget_call_id() const { return pending(turn().budget_call); }
    Decision raise(std::string const& amount) {
        Submission what = decision(true);
        what.content = json(R"({"raise":)" + amount + "}");
        what.digest = sha256("raise " + amount);
        return submit(budget_call_id(), what);
    }
    // The error of a raise that changes nothing.
    std::string refused(std::string const& amount) {
        Seq const before = state.head;
        auto const d = raise(amount);
        EXPECT_EQ(state.head, before);
        return d.answer ? "" : d.answer.error().detail;
    }
    [[nodiscard]] std::string question() const {
        return call(turn().budget_call).pause->terms.message;
    }

    Budget one_;
};

TEST_F(BudgetTest, Tokens_UsedUp_AsksBeforeNextStep) {
    limit(BudgetPer::turn, BudgetKind::tokens, 15);
    asks_for({plain()});
    auto const d = finish(1);
    EXPECT_EQ(types(d), "tool_finished budget_reached") << "the tool's result is kept";
    EXPECT_EQ(activity(state), Activity::waiting_async);
    EXPECT_TRUE(outstanding(state).empty());
    EXPECT_EQ(question(),
              "The turn has used 15 tokens; its budget is 15 tokens. Raise it, or end the turn?");
}

TEST_F(BudgetTest, Raise_ContinuesWithTheNextStep) {
    reach();
    auto const d = submit(budget_call_id(), decision(true));
    EXPECT_EQ(types(d), "submitted budget_raised model_requested");
    EXPECT_EQ(turn().step, 2U);
    EXPECT_EQ(turn().attempt, 1U);
    EXPECT_EQ(turn().raised.at(0).amount, 15);
    EXPECT_EQ(answer_of(reply()), "applied");
    EXPECT_FALSE(state.turn);
}

TEST_F(BudgetTest, Raise_WithAmount_HoldsUntilItIsUsed) {
    reach();
    (void)raise("16");  // 31 in all
    (void)reply({plain()});
    EXPECT_EQ(types(finish(3)), "tool_finished model_requested");
    (void)reply({plain()});
    EXPECT_EQ(types(finish(4)), "tool_finished budget_reached");
    EXPECT_EQ(question(),
              "The turn has used 45 tokens; its budget is 31 tokens. Raise it, or end the turn?");
}

TEST_F(BudgetTest, LargerBudget_WithdrawsTheQuestion) {
    reach();
    EXPECT_EQ(types(tick()), "");
    one_.limit = 16;
    set();
    auto const d = tick();
    EXPECT_EQ(types(d), "cancelled model_requested");
    EXPECT_EQ(first<Cancelled>(d).why, "the budget has something left again");
}

TEST_F(BudgetTest, BudgetRemoved_WithdrawsTheQuestion) {
    reach();
    budgets = std::make_shared<std::vector<Budget>>();
    auto const d = tick();
    EXPECT_EQ(types(d), "cancelled model_requested");
    EXPECT_EQ(first<Cancelled>(d).why, "the budget was removed");
}

TEST_F(BudgetTest, Denial_EndsTheTurn) {
    reach();
    Submission what = decision(false);
    what.reason = "enough";
    EXPECT_EQ(types(submit(budget_call_id(), what)), "submitted turn_ended");
    auto const& ended = std::get<TurnEnded>(archive.log.back().body);
    EXPECT_EQ(ended.finish, FinishReason::budget);
    EXPECT_EQ(ended.error->code, "budget_reached");
    EXPECT_EQ(ended.error->message,
              "ann ended the turn: enough. The turn has used 15 tokens; its budget is 15 tokens.");
}

TEST_F(BudgetTest, Expiry_EndsTheTurn) {
    limit(BudgetPer::turn, BudgetKind::tokens, 15);
    one_.timeout = Duration(60'000);
    set();
    asks_for({plain()});
    (void)finish(1);
    EXPECT_EQ(types(later(Duration(60'000))), "expired turn_ended");
    auto const& ended = std::get<TurnEnded>(archive.log.back().body);
    EXPECT_EQ(ended.error->message,
              "Nobody raised the budget in time. The turn has used 15 tokens; its budget is 15 "
              "tokens.");
}

TEST_F(BudgetTest, Cancel_OfTheQuestion_CancelsTheTurn) {
    reach();
    EXPECT_EQ(types(cancel_call(budget_call_id())), "cancelled turn_ended");
    EXPECT_EQ(std::get<TurnEnded>(archive.log.back().body).finish, FinishReason::cancelled);
}

TEST_F(BudgetTest, Cancel_OfTheTurn_SettlesTheQuestion) {
    reach();
    EXPECT_EQ(types(cancel_turn()), "cancelled turn_ended");
    EXPECT_TRUE(state.calls.empty());
}

TEST_F(BudgetTest, Restart_WhilePaused_AsksNothingTwice) {
    reach();
    PendingId const before = budget_call_id();
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(budget_call_id(), before);
    EXPECT_EQ(types(submit(before, decision(true))), "submitted budget_raised model_requested");
}

TEST_F(BudgetTest, SecondRaise_IsDuplicateOrConflict) {
    reach();
    PendingId const call = budget_call_id();
    (void)submit(call, decision(true));
    EXPECT_EQ(answer_of(submit(call, decision(true))), "duplicate");
    EXPECT_EQ(answer_of(submit(call, decision(false))), "conflict");
    EXPECT_EQ(turn().raised.at(0).amount, 15) << "raised once";
}

TEST_F(BudgetTest, Raise_OfWrongAmount_IsRefused) {
    reach();
    std::string const why =
        "The answer's content.raise must be a whole number, more than 0 and at most 15000 tokens.";
    for (std::string const amount :
         {"0", "-5", "15001", "1e300", "1.5", "\"many\"", "null", "[1]", "true"})
        EXPECT_EQ(refused(amount), why) << amount;
    EXPECT_EQ(types(raise("15000")), "submitted budget_raised model_requested");
}

TEST_F(BudgetTest, Content_WithoutAmount_IsRefused) {
    reach();
    for (std::string const content : {"{}", R"({"amount":5})", R"({"raise":5,"by":1})", "5"}) {
        Submission what = decision(true);
        what.content = json(content);
        auto const d = submit(budget_call_id(), what);
        EXPECT_EQ(answer_of(d), "invalid_result") << content;
        EXPECT_EQ(types(d), "") << content;
    }
}

TEST_F(BudgetTest, Result_IsNoAnswer) {
    reach();
    EXPECT_EQ(answer_of(submit(budget_call_id(), result("more"))), "wrong_kind");
}

TEST_F(BudgetTest, Answerers_OnlyTheyMayRaise) {
    limit(BudgetPer::turn, BudgetKind::tokens, 15);
    one_.answer.from = {"bob"};
    set();
    asks_for({plain()});
    (void)finish(1);
    EXPECT_EQ(answer_of(submit(budget_call_id(), decision(true))), "not_an_answerer");
    by.name = "bob";
    EXPECT_EQ(answer_of(submit(budget_call_id(), decision(true))), "applied");
}

TEST_F(BudgetTest, Steps_OfTheSession_HoldItsNextTurn) {
    limit(BudgetPer::session, BudgetKind::steps, 1);
    asks_for({});
    EXPECT_FALSE(state.turn) << "a turn that needs no further step ends";
    EXPECT_EQ(types(prompt("more")), "input_received turn_started budget_reached");
    EXPECT_EQ(question(),
              "The session has used 1 step; its budget is 1 step. Raise it, or end the turn?");
    (void)raise("2");
    (void)reply();
    EXPECT_EQ(types(prompt("more")), "input_received turn_started model_requested")
        << "a raise of the session's budget outlives the turn";
}

TEST_F(BudgetTest, Turn_BeginsWithItsWholeBudget) {
    reach();
    (void)submit(budget_call_id(), decision(false));
    EXPECT_EQ(types(prompt("more")), "input_received turn_started model_requested");
}

TEST_F(BudgetTest, OtherProject_IsNotLimited) {
    limit(BudgetPer::turn, BudgetKind::tokens, 15);
    one_.projects = {"ops"};
    set();
    asks_for({plain()});
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
}

TEST_F(BudgetTest, Cost_CountsItsCurrencyOnly) {
    limit(BudgetPer::session, BudgetKind::cost, 1'500'000);
    (void)create();
    (void)prompt("please");
    auto const replies = [&](Cost cost) {
        ModelReply reply;
        reply.turn = turn().no;
        reply.step = turn().step;
        reply.attempt = turn().attempt;
        reply.parts = parts("well");
        reply.calls = {plain()};
        reply.usage.cost = std::move(cost);
        (void)when(std::move(reply));
    };
    replies({{"EUR", 9'000'000}, {"USD", 1'000'000}});
    EXPECT_EQ(types(finish(1)), "tool_finished model_requested");
    replies({{"USD", 500'001}});
    EXPECT_EQ(types(finish(2)), "tool_finished budget_reached");
    EXPECT_EQ(question(),
              "The session has used 1.500001 USD; its budget is 1.5 USD. Raise it, or end the "
              "turn?");
    EXPECT_EQ(
        refused("-1"),
        "The answer's content.raise must be a number of USD, more than 0 and at most 1500 USD.");
    EXPECT_EQ(types(raise("0.25")), "submitted budget_raised model_requested");
    EXPECT_EQ(state.raised.at(0).amount, 250'001) << "from what is used";
}

TEST_F(BudgetTest, Raise_CountsFromWhatIsUsed_AndDoesNotAskAgainAtOnce) {
    limit(BudgetPer::session, BudgetKind::tokens, 100);
    (void)create();
    (void)prompt("hello");
    ModelReply reply;
    reply.turn = turn().no;
    reply.step = turn().step;
    reply.attempt = turn().attempt;
    reply.parts = parts("well");
    reply.calls = {plain()};
    reply.usage.input_tokens = 1'000'000;
    (void)when(std::move(reply));
    EXPECT_EQ(types(finish(1)), "tool_finished budget_reached");
    EXPECT_EQ(types(raise("1")), "submitted budget_raised model_requested");
}

TEST_F(BudgetTest, WallTime_CountsWorkButNoWaiting) {
    terms.timed = true;
    limit(BudgetPer::turn, BudgetKind::wall_time, 60'000);
    (void)create();
    (void)prompt("please");
    now += Duration(20'000);
    (void)reply({job()});
    (void)pauses(1);
    now += Duration(80'000'000);
    EXPECT_EQ(types(submit(pending(1), result("done"))), "submitted model_requested")
        << "the time in which the job ran is not counted";
    now += Duration(40'000);
    (void)reply({plain()});
    EXPECT_EQ(types(finish(2)), "tool_finished budget_reached");
    EXPECT_EQ(question(),
              "The turn has worked for 1m; its budget is 1m. Raise it, or end the turn?");
    EXPECT_EQ(refused("5"),
              "The answer's content.raise must be a time such as \"30m\", more than 0 and at most "
              "1000m.");
    (void)raise("\"5m\"");
    EXPECT_EQ(turn().raised.at(0).amount, 300'000);
}

TEST_F(BudgetTest, Prompt_WhilePaused_IsSeenAfterTheRaise) {
    reach();
    EXPECT_EQ(types(prompt("stop soon", PromptMode::steer)), "input_received");
    EXPECT_EQ(types(submit(budget_call_id(), decision(true))),
              "submitted budget_raised model_requested");
    EXPECT_EQ(turn().request->view_seq, state.head - 1);
}

TEST_F(BudgetTest, OtherProcess_TakesTheAnswer_DriverContinues) {
    reach();
    drives = false;
    EXPECT_EQ(types(submit(budget_call_id(), decision(true))), "submitted budget_raised");
    drives = true;
    EXPECT_EQ(types(tick()), "model_requested");
}

}  // namespace
}  // namespace dormouse::session::testing
