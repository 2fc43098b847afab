#include "session/testing/session_fixture.h"

// Interceptors of turns: asked before the first request, notified after the end, with nothing in
// between.
namespace dormouse::session::testing {
namespace {

class TurnTest : public SessionTest {
protected:
    void begin() {
        terms.before = {"limits", "notes"};
        terms.after = {"audit"};
        (void)create();
        started = prompt("please");
    }
    Decision lets(Json context = {}) { return when(TurnOutcome{1, false, {}, std::move(context)}); }
    Decision refuses() { return when(TurnOutcome{1, false, "not today", {}}); }
    Decision after_hooks_ran(TurnNo turn = 1) { return when(TurnOutcome{turn, true}); }

    Decision started;
};

TEST_F(TurnTest, Interceptors_AreAskedBeforeTheModel) {
    begin();
    EXPECT_EQ(types(started), "input_received turn_started");
    ASSERT_TRUE(find_effect<AskTurn>());
    EXPECT_EQ(find_effect<AskTurn>()->names, terms.before);
    EXPECT_FALSE(find_effect<AskTurn>()->ended);
    EXPECT_EQ(find_effect<AskModel>(), std::nullopt);
    EXPECT_EQ(activity(state), Activity::busy);
    EXPECT_EQ(wake_at(state), from_ms(0));
    EXPECT_EQ(types(lets()), "turn_checked model_requested");
    EXPECT_EQ(types(lets()), "") << "an answer that comes twice";
    EXPECT_TRUE(find_effect<AskModel>());
}

TEST_F(TurnTest, InterceptorsContext_IsAMessageForEveryRequest) {
    begin();
    Json const context = parts("It is Friday.");
    auto const d = lets(context);
    EXPECT_EQ(types(d), "turn_checked input_received model_requested");
    auto const input = first<InputReceived>(d);
    EXPECT_EQ(input.parts, context);
    EXPECT_EQ(input.source, InputSource::external);
    EXPECT_EQ(input.turn, 1U);
    EXPECT_EQ(first<ModelRequested>(d).view_seq, d.events[1].seq);
}

TEST_F(TurnTest, InterceptorsRefusal_EndsTheTurnUnasked) {
    begin();
    auto const d = refuses();
    EXPECT_EQ(types(d), "turn_ended");
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::error);
    EXPECT_EQ(first<TurnEnded>(d).error->code, "refused");
    EXPECT_EQ(first<TurnEnded>(d).error->message, "not today");
    EXPECT_EQ(types(after_hooks_ran()), "turn_told");
    EXPECT_EQ(what_class(), "idle");
    // A retry asks them again and begins with the first step.
    EXPECT_EQ(types(move(Move::To::retry)), "turn_started");
    EXPECT_EQ(types(lets()), "turn_checked model_requested");
    EXPECT_EQ(turn().step, 1U);
}

TEST_F(TurnTest, Crash_AsksInterceptorsAgainAndWritesNothing) {
    begin();
    EXPECT_EQ(types(restart()), "");
    EXPECT_TRUE(find_effect<AskTurn>());
    EXPECT_EQ(types(later(Duration(24 * 3600 * 1000))), "") << "after any down time";
    EXPECT_EQ(types(lets()), "turn_checked model_requested");
}

TEST_F(TurnTest, EndOfTheTurn_NotifiesInterceptorsOnce) {
    begin();
    (void)lets();
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
    auto const ask = find_effect<AskTurn>();
    ASSERT_TRUE(ask);
    EXPECT_TRUE(ask->ended);
    EXPECT_EQ(ask->names, terms.after);
    EXPECT_EQ(ask->finish, FinishReason::stop);
    EXPECT_EQ(ask->usage.input_tokens, 10);
    EXPECT_EQ(wake_at(state), from_ms(0)) << "a new process tells them";
    EXPECT_EQ(types(restart()), "");
    auto const d = after_hooks_ran();
    EXPECT_EQ(types(d), "turn_told");
    EXPECT_EQ(d.events[0].turn, 1U);
    EXPECT_EQ(types(after_hooks_ran()), "");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

TEST_F(TurnTest, CancelWhileInterceptorsAreAsked_EndsTheTurn) {
    begin();
    EXPECT_EQ(types(cancel_turn()), "turn_ended");
    EXPECT_EQ(find_effect<AskTurn>()->finish, FinishReason::cancelled);
    EXPECT_EQ(types(lets()), "") << "too late";
    EXPECT_EQ(types(after_hooks_ran()), "turn_told");
}

TEST_F(TurnTest, NextTurn_DoesNotWaitForNotifications) {
    begin();
    (void)lets();
    (void)prompt("and then?", PromptMode::queue);
    EXPECT_EQ(types(reply()), "model_replied turn_ended turn_started");
    EXPECT_EQ(turn().no, 2U);
    EXPECT_EQ(types(when(TurnOutcome{2, false})), "turn_checked model_requested");
    auto const d = after_hooks_ran();
    EXPECT_EQ(types(d), "turn_told");
    EXPECT_EQ(d.events[0].turn, 1U);
}

TEST_F(TurnTest, TooManyPendingNotifications_NoTurnBegins) {
    terms.after = {"audit"};
    (void)create();
    for (std::size_t i = 0; i < limits::unnotified_turns_max; ++i) {
        (void)prompt("please");
        (void)reply();
    }
    EXPECT_EQ(types(prompt("one more")), "input_received");
    EXPECT_EQ(types(after_hooks_ran(3)), "turn_told turn_started model_requested");
}

TEST_F(TurnTest, DeletedSession_NotifiesNothing) {
    begin();
    (void)when(Delete{});
    EXPECT_TRUE(outstanding(state).empty());
    EXPECT_EQ(answer_of(after_hooks_ran()), "not_found");
}

TEST_F(TurnTest, EndedSession_NotifiesAndSleeps) {
    begin();
    EXPECT_EQ(types(move(Move::To::end)), "turn_ended session_ended");
    EXPECT_EQ(wake_at(state), from_ms(0));
    EXPECT_EQ(types(after_hooks_ran()), "turn_told");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

}  // namespace
}  // namespace dormouse::session::testing
