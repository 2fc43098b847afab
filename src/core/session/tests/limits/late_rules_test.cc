#include "session/testing/session_fixture.h"

#include "session/limits.h"

// Rules for what comes late, twice, or at the same time as something else.
namespace dormouse::session::testing {
namespace {

class LateRules : public SessionTest {
protected:
    Decision create_imported() {
        Create create{id, "default", "coder", {}, {}, {}, {}, {}, {}};
        create.fork = Create::ForkOf{
            SessionId(), 0, json(R"([{"role":"user","parts":[{"type":"text","text":"a"}]}])"), 1};
        return when(std::move(create));
    }
    Decision import_part(std::uint32_t part) {
        ImportMore more;
        more.part = part;
        more.messages = json(R"([{"role":"user","parts":[{"type":"text","text":"b"}]}])");
        more.message_count = 1;
        return when(std::move(more));
    }
    Decision model_fails_for(Duration retry_after) {
        return when(ModelFailure{
            turn().no, turn().step, turn().attempt, {"model_failed", "503"}, true, retry_after});
    }
};

TEST_F(LateRules, LastModelFailureAndDeadlineAtOnce_EndTheTurnOnce) {
    join(1, false);
    asks_for({job(), job()});
    (void)pauses(1);
    PauseTerms terms;
    terms.timeout = std::chrono::hours(24 * 20);
    (void)pauses(2, terms);
    (void)submit(pending(1), result("first"));
    for (std::uint32_t failures = 1; failures < limits::model_failures_max; ++failures) {
        (void)model_fails_for(Duration(1'000));
        (void)later(Duration(1'000));
        ASSERT_TRUE(state.turn && state.turn->request) << failures;
    }
    (void)later(std::chrono::hours(24 * 40));
    EXPECT_FALSE(state.turn);
    EXPECT_TRUE(state.calls.empty());
}

TEST_F(LateRules, ImportIntoASessionThatIsNotActive_IsRefused) {
    (void)create_imported();
    EXPECT_EQ(answer_of(import_part(2)), "applied");
    (void)move(Move::To::pause);
    EXPECT_EQ(answer_of(import_part(3)), "wrong_state");
    (void)move(Move::To::resume);
    EXPECT_EQ(answer_of(import_part(3)), "applied");
    (void)move(Move::To::end);
    EXPECT_EQ(answer_of(import_part(4)), "wrong_state");
}

TEST_F(LateRules, ImportParts_TheLastOneIsTakenAndNoMore) {
    (void)create_imported();
    for (std::uint32_t part = 2; part <= limits::import_parts_max; ++part)
        ASSERT_EQ(answer_of(import_part(part)), "applied") << part;
    EXPECT_NE(answer_of(import_part(limits::import_parts_max + 1)), "applied");
}

TEST_F(LateRules, JoinAnyOfOneStep_LeavesTheNextStepsCallsOpen) {
    join(1, true);
    waits_for({job(), job()});
    (void)prompt("do this too", PromptMode::steer);
    (void)reply({job(), job()});
    (void)pauses(3);
    (void)pauses(4);
    (void)submit(pending(1), result("first"));
    EXPECT_FALSE(state.calls.contains(2));
    EXPECT_TRUE(state.calls.contains(3));
    EXPECT_TRUE(state.calls.contains(4));
}

TEST_F(LateRules, CompletedSession_TakesNoAlias) {
    (void)create();
    (void)move(Move::To::end);
    Change change;
    change.alias = "ops";
    EXPECT_EQ(answer_of(when(change)), "wrong_state");
}

TEST_F(LateRules, ProvidersRetryTime_IsAtMostAnHour) {
    (void)create();
    (void)prompt("please");
    auto const d = model_fails_for(std::chrono::hours(240));
    EXPECT_EQ(first<ModelFailed>(d).retry_at, now + std::chrono::hours(1));
    (void)later(std::chrono::hours(1));
    auto const past = model_fails_for(-std::chrono::hours(1));
    EXPECT_EQ(first<ModelFailed>(past).retry_at, now);
}

TEST_F(LateRules, InterceptorsDecisionOfTheLastTurn_IsNotOneOfTheNext) {
    terms.before = {"limits"};
    (void)create();
    (void)prompt("one");
    (void)when(TurnOutcome{1, false, {}, {}});
    (void)reply();
    (void)prompt("two");
    ASSERT_EQ(turn().no, 2U);
    EXPECT_EQ(types(when(TurnOutcome{1, false, {}, {}})), "");
    EXPECT_EQ(types(when(TurnOutcome{1, false, "not today", {}})), "");
    EXPECT_EQ(types(when(TurnOutcome{2, false, {}, {}})), "turn_checked model_requested");
}

TEST_F(LateRules, CutHistory_GivesTheBytesOfItsArtifactsBack) {
    (void)create();
    State cut = state;
    cut.artifact_bytes = 100;
    HistoryCut what;
    what.through = 1;
    what.artifact_bytes = 60;
    apply(cut, Event{cut.head + 1, now, 0, {}, what});
    EXPECT_EQ(cut.artifact_bytes, 40U);
}

// It was planned on events that another process appended.
TEST_F(LateRules, Redaction_PlannedOnNewerEvents_IsNotDecided) {
    (void)create();
    (void)prompt("please");
    Redact redact;
    redact.what.message = 2;
    redact.head = state.head + 1;
    EXPECT_EQ(answer_of(when(redact)), "precondition_failed");
    redact.head = state.head;
    EXPECT_EQ(types(when(redact)), "redacted");
}

TEST_F(LateRules, EarlyResultOfAToolWithAWebhook_IsSentToIt) {
    CallSpec spec = job();
    spec.terms.webhook_url = "https://example.com/done";
    asks_for({spec});
    auto const d = submit(pending(1), result("before the pause"));
    ASSERT_EQ(answer_of(d), "applied");
    ASSERT_FALSE(d.pending.empty());
    EXPECT_EQ(d.pending.back().webhook_url, "https://example.com/done");
}

}  // namespace
}  // namespace dormouse::session::testing
