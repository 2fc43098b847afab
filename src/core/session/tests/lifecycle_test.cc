#include "session/testing/session_fixture.h"

// Requirement C7: every pair of status and move. A refusal names both.
namespace dormouse::session::testing {
namespace {

enum class To { pause, resume, fail, end, retry, remove };

struct MoveRow {
    Lifecycle from;
    To move;
    Lifecycle after;  // equal to `from`: refused
};

std::string name_of(To move) {
    switch (move) {
        case To::pause: return "pause";
        case To::resume: return "resume";
        case To::fail: return "fail";
        case To::end: return "end";
        case To::retry: return "retry";
        case To::remove: return "delete";
    }
    return "";
}

class LifecycleTest : public SessionTest {
protected:
    void be(Lifecycle wanted) {
        (void)create();
        if (wanted == Lifecycle::paused) (void)Given::move(Move::To::pause);
        if (wanted == Lifecycle::error) (void)Given::move(Move::To::fail);
        if (wanted == Lifecycle::completed) (void)Given::move(Move::To::end);
        if (wanted == Lifecycle::deleted) (void)when(Delete{});
    }
    Decision move(To to) {
        if (to == To::remove) return when(Delete{});
        return Given::move(static_cast<Move::To>(to));
    }
};

class EveryMove : public LifecycleTest, public ::testing::WithParamInterface<MoveRow> {};

TEST_P(EveryMove, Move_FromEveryStatus_IsAllowedOrRefusedByName) {
    auto const& row = GetParam();
    be(row.from);
    auto const d = move(row.move);
    EXPECT_EQ(state.lifecycle, row.after);
    if (row.after != row.from) {
        EXPECT_EQ(answer_of(d), "applied");
        return;
    }
    EXPECT_EQ(types(d), "");
    if (row.from == Lifecycle::deleted) {
        EXPECT_EQ(answer_of(d), "not_found");
        return;
    }
    EXPECT_EQ(answer_of(d), "wrong_state");
    std::string const extra =
        R"({"from":")" + std::string(text(row.from)) + R"(","move":")" + name_of(row.move) + "\"}";
    EXPECT_EQ(d.answer.error().extra.text(), extra);
}

constexpr auto active = Lifecycle::active;
constexpr auto paused = Lifecycle::paused;
constexpr auto completed = Lifecycle::completed;
constexpr auto failed = Lifecycle::error;
constexpr auto gone = Lifecycle::deleted;

INSTANTIATE_TEST_SUITE_P(
    Table, EveryMove,
    ::testing::Values(
        MoveRow{active, To::pause, paused}, MoveRow{active, To::resume, active},
        MoveRow{active, To::fail, failed}, MoveRow{active, To::end, completed},
        MoveRow{active, To::retry, active}, MoveRow{active, To::remove, gone},
        MoveRow{paused, To::pause, paused}, MoveRow{paused, To::resume, active},
        MoveRow{paused, To::fail, failed}, MoveRow{paused, To::end, completed},
        MoveRow{paused, To::retry, paused}, MoveRow{paused, To::remove, gone},
        MoveRow{completed, To::pause, completed}, MoveRow{completed, To::resume, completed},
        MoveRow{completed, To::fail, completed}, MoveRow{completed, To::end, completed},
        MoveRow{completed, To::retry, completed}, MoveRow{completed, To::remove, gone},
        MoveRow{failed, To::pause, failed}, MoveRow{failed, To::resume, failed},
        MoveRow{failed, To::fail, failed}, MoveRow{failed, To::end, completed},
        MoveRow{failed, To::retry, active}, MoveRow{failed, To::remove, gone},
        MoveRow{gone, To::pause, gone}, MoveRow{gone, To::resume, gone},
        MoveRow{gone, To::fail, gone}, MoveRow{gone, To::end, gone}, MoveRow{gone, To::retry, gone},
        MoveRow{gone, To::remove, gone}),
    [](auto const& row) {
        return std::string(text(row.param.from)) + "_" + name_of(row.param.move);
    });

TEST_F(LifecycleTest, End_SettlesTurnCallsAndQueueInOneAppend) {
    waits_for({job(), job()});
    (void)prompt("second");
    auto const d = move(To::end);
    EXPECT_EQ(types(d), "cancelled cancelled turn_ended input_dropped session_ended");
    EXPECT_EQ(first<TurnEnded>(d).finish, FinishReason::cancelled);
    EXPECT_EQ(what_class(), "ended");
    EXPECT_EQ(wake_at(state), std::nullopt);
    EXPECT_EQ(state.ended, now);
}

TEST_F(LifecycleTest, End_OfAPausedSession_SettlesTheSame) {
    waits_for({job()});
    (void)move(To::pause);
    EXPECT_EQ(types(move(To::end)), "cancelled turn_ended session_ended");
    EXPECT_TRUE(state.calls.empty());
}

TEST_F(LifecycleTest, Delete_SettlesTheSameInEveryState) {
    waits_for({job()});
    auto const d = move(To::remove);
    EXPECT_EQ(types(d), "cancelled turn_ended session_deleted");
    EXPECT_EQ(what_class(), "ended");
    EXPECT_EQ(answer_of(prompt("hello?")), "not_found");
    EXPECT_EQ(answer_of(cancel_turn()), "not_found");
}

TEST_F(LifecycleTest, Delete_WhileAToolRuns_SaysItMayHaveRun) {
    asks_for({plain()});
    auto const d = move(To::remove);
    EXPECT_TRUE(first<Cancelled>(d).may_have_run);
    EXPECT_TRUE(outstanding(state).empty());
}

TEST_F(LifecycleTest, Paused_StartsNothingNew) {
    asks_for({plain()});
    (void)move(To::pause);
    EXPECT_EQ(types(finish(1)), "tool_finished");
    EXPECT_EQ(what_class(), "stopped");
    EXPECT_EQ(types(move(To::resume)), "status_changed model_requested");
}

TEST_F(LifecycleTest, Paused_ReplyIsKeptAndItsCallsWait) {
    (void)create();
    (void)prompt("please");
    (void)move(To::pause);
    CallSpec waits = job();
    waits.at_once = PauseTerms{};
    EXPECT_EQ(types(reply({waits, plain()})), "model_replied");
    EXPECT_EQ(types(move(To::resume)), "status_changed tool_started call_paused tool_started");
}

TEST_F(LifecycleTest, Retry_ReopensTheFailedTurn) {
    (void)create();
    (void)prompt("please");
    (void)model_fails(false);
    auto const d = move(To::retry);
    EXPECT_EQ(types(d), "turn_started model_requested");
    EXPECT_TRUE(first<TurnStarted>(d).again);
    EXPECT_EQ(first<TurnStarted>(d).turn, 1U);
    EXPECT_EQ(first<ModelRequested>(d).step, 1U);
    EXPECT_EQ(first<ModelRequested>(d).attempt, 2U);
    EXPECT_EQ(types(reply()), "model_replied turn_ended");
}

TEST_F(LifecycleTest, Retry_AfterASuccessfulTurn_IsRefused) {
    (void)create();
    (void)prompt("please");
    (void)reply();
    EXPECT_EQ(answer_of(move(To::retry)), "wrong_state");
}

TEST_F(LifecycleTest, Retry_KeepsUsageAndResetsFailures) {
    asks_for({plain()});
    (void)finish(1);
    (void)model_fails(false);
    (void)move(To::retry);
    EXPECT_EQ(types(model_fails()), "model_failed");
    (void)later(Duration(60'000));
    EXPECT_EQ(first<TurnEnded>(reply()).usage, (Usage{20, 10, 0}));
}

TEST_F(LifecycleTest, Change_WritesOnlyWhatIsNew) {
    (void)create();
    Change change;
    change.title = "deploys";
    auto const d = when(change);
    EXPECT_EQ(types(d), "session_changed");
    EXPECT_EQ(first<SessionChanged>(d).alias, std::nullopt);
    EXPECT_EQ(types(when(change)), "");
    EXPECT_EQ(state.title, "deploys");
}

TEST_F(LifecycleTest, Change_StaleHead_IsRefused) {
    (void)create();
    Change change;
    change.title = "deploys";
    change.if_match = state.head + 1;
    auto const d = when(change);
    EXPECT_EQ(answer_of(d), "precondition_failed");
    EXPECT_EQ(types(d), "");
    change.if_match = state.head;
    EXPECT_EQ(answer_of(when(change)), "applied");
}

}  // namespace
}  // namespace dormouse::session::testing
