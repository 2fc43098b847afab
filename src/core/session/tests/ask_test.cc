#include "session/testing/session_fixture.h"

// Calls that a client makes, in sessions without an agent.
namespace dormouse::session::testing {
namespace {

class AskTest : public SessionTest {
protected:
    Decision ask(PauseReason reason = PauseReason::approval) {
        Create create{id, "default", std::string(no_agent), {}, {}, {}, {}, {}, {}};
        PauseTerms terms;
        terms.reason = reason;
        terms.continuation = Continuation::tool_response;
        terms.message = "Deploy?";
        terms.timeout = timeout;
        terms.on_deadline = on_deadline;
        terms.escalate_to = escalate_to;
        terms.answer.need = need;
        create.ask = Create::Ask{plain("deploy"), terms, parts("Deploy?")};
        return when(std::move(create));
    }
    [[nodiscard]] PendingId pending() const { return state.calls.at(1).pending; }
    Decision submits(Submission what) {
        return when(Submit{pending_, std::move(what), "http", {}, {}, {}});
    }
    Decision answers(Submission what) {
        pending_ = pending();
        return submits(std::move(what));
    }

    std::optional<Duration> timeout = {};
    OnDeadline on_deadline = OnDeadline::expire;
    std::vector<std::string> escalate_to = {};
    std::uint32_t need = 1;
    PendingId pending_ = {};
};

TEST_F(AskTest, NewCall_WaitsAndNothingRuns) {
    auto const d = ask();
    EXPECT_EQ(types(d), "session_created input_received turn_started agent_asked");
    EXPECT_EQ(activity(state), Activity::waiting_async);
    EXPECT_TRUE(outstanding(state).empty());
    EXPECT_EQ(wake_at(state), std::nullopt);
    EXPECT_EQ(shown_title(state), "Deploy?");
    ASSERT_EQ(d.pending.size(), 1U);
    EXPECT_EQ(d.pending.front().tool, "deploy");
}

TEST_F(AskTest, Approval_CompletesTheSession) {
    (void)ask();
    auto const d = answers(decision(true));
    EXPECT_EQ(types(d), "submitted turn_ended session_ended");
    EXPECT_EQ(answer_of(d), "applied");
    EXPECT_EQ(state.lifecycle, Lifecycle::completed);
    EXPECT_TRUE(outstanding(state).empty());
}

TEST_F(AskTest, EveryReason_IsSettledByItsKind) {
    struct Row {
        PauseReason reason;
        Submission what;
        std::string expected;
    };
    for (Row const& row : {Row{PauseReason::approval, decision(false), "applied"},
                           Row{PauseReason::approval, result("yes"), "wrong_kind"},
                           Row{PauseReason::user_input, result("yes"), "applied"},
                           Row{PauseReason::user_input, decision(true), "wrong_kind"},
                           Row{PauseReason::tool_result, result("7"), "applied"},
                           Row{PauseReason::tool_result, error("no"), "applied"},
                           Row{PauseReason::tool_result, decision(true), "wrong_kind"}}) {
        static_cast<Given&>(*this) = Given();
        (void)ask(row.reason);
        EXPECT_EQ(answer_of(answers(row.what)), row.expected) << text(row.reason);
    }
}

TEST_F(AskTest, EditedArguments_AreRefused) {
    (void)ask();
    Submission edited = decision(true);
    edited.arguments = json("{}");
    EXPECT_EQ(answer_of(answers(edited)), "invalid_arguments");
    EXPECT_EQ(types(answers(decision(true))), "submitted turn_ended session_ended");
}

TEST_F(AskTest, SecondAnswer_IsDuplicateOrConflict) {
    (void)ask();
    (void)answers(decision(true));
    EXPECT_EQ(answer_of(submits(decision(true))), "duplicate");
    EXPECT_EQ(answer_of(submits(decision(false))), "conflict");
}

TEST_F(AskTest, TwoVotes_TheSecondEqualOneSettles) {
    need = 2;
    (void)ask();
    by = {ActorType::token, "ann"};
    EXPECT_EQ(types(answers(decision(true))), "voted");
    EXPECT_EQ(answer_of(submits(decision(true))), "counted");
    by = {ActorType::token, "bob"};
    EXPECT_EQ(types(submits(decision(true))), "voted submitted turn_ended session_ended");
}

TEST_F(AskTest, Deadline_ExpiresOrDeniesAndCompletes) {
    for (auto const policy : {OnDeadline::expire, OnDeadline::deny}) {
        static_cast<Given&>(*this) = Given();
        timeout = Duration(60'000);
        on_deadline = policy;
        (void)ask();
        now += Duration(60'000);
        auto const d = when(Tick{});
        EXPECT_EQ(types(d), "expired turn_ended session_ended");
        auto const reason = policy == OnDeadline::deny ? ErrorReason::denied : ErrorReason::expired;
        EXPECT_EQ(first<Expired>(d).reason, reason);
    }
}

TEST_F(AskTest, Deadline_EscalatesFirst) {
    timeout = Duration(60'000);
    escalate_to = {"role:admin"};
    (void)ask();
    now += Duration(60'000);
    EXPECT_EQ(types(when(Tick{})), "reassigned");
    now += Duration(60'000);
    EXPECT_EQ(types(when(Tick{})), "expired turn_ended session_ended");
}

TEST_F(AskTest, CancelledCallTurnOrEnd_CompletesTheSession) {
    (void)ask();
    EXPECT_EQ(types(when(Cancel{Cancel::Scope::call, pending()})),
              "cancelled turn_ended session_ended");
    static_cast<Given&>(*this) = Given();
    (void)ask();
    EXPECT_EQ(types(when(Cancel{Cancel::Scope::turn, {}})), "cancelled turn_ended session_ended");
    static_cast<Given&>(*this) = Given();
    (void)ask();
    EXPECT_EQ(types(when(Move{Move::To::end, "ended"})), "cancelled turn_ended session_ended");
}

TEST_F(AskTest, Restart_ChangesNothing) {
    (void)ask();
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(types(answers(decision(true))), "submitted turn_ended session_ended");
    EXPECT_EQ(types(restart()), "");
}

TEST_F(AskTest, PromptMailAndTask_AreRefused) {
    (void)ask();
    EXPECT_EQ(answer_of(prompt("hello")), "wrong_kind");
    EXPECT_EQ(answer_of(when(TakeMail{})), "wrong_kind");
    EXPECT_EQ(answer_of(when(SendMail{})), "wrong_kind");
    EXPECT_EQ(answer_of(when(TaskAsk{})), "wrong_kind");
    EXPECT_EQ(answer_of(when(Deliver{OutboxKey{}, Mail{}})), "wrong_kind");
    (void)answers(decision(true));
    Prompt again;
    again.parts = parts("hello");
    again.reopen = true;
    EXPECT_EQ(answer_of(when(again)), "wrong_kind");
    EXPECT_EQ(state.lifecycle, Lifecycle::completed);
}

}  // namespace
}  // namespace dormouse::session::testing
