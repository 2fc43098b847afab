#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Polls: the tool asks a service for the result of a paused call at intervals.
namespace dormouse::session::testing {
namespace {

constexpr Duration every{30'000};

class PollTest : public SessionTest {
protected:
    void polls(Duration time = every) {
        CallSpec spec = job();
        spec.terms.may_pause.push_back(PauseReason::elicitation);
        asks_for({spec});
        PauseTerms terms;
        terms.poll_every = time;
        terms.external_ref = "run-1";
        (void)pauses(1, terms);
    }
    [[nodiscard]] std::size_t due() const { return due_polls(state, now).size(); }
    Decision not_yet(std::string const& error = {}, std::optional<Duration> retry_after = {}) {
        return polled(1, NotYet{error, retry_after});
    }
    [[nodiscard]] Duration next() const { return *call(1).pause->poll_at - now; }
};

TEST_F(PollTest, Poll_IsDueAtItsTimeWithoutAnEvent) {
    polls();
    EXPECT_EQ(due(), 0U);
    EXPECT_EQ(wake_at(state), now + every);
    EXPECT_EQ(types(later(every)), "") << "a poll has no side effects, so it needs no intent";
    ASSERT_EQ(due(), 1U);
    auto const poll = std::get<PollTool>(due_polls(state, now).begin()->second.what);
    EXPECT_EQ(poll.external_ref, "run-1");
    EXPECT_EQ(poll.pending, pending(1));
    EXPECT_TRUE(outstanding(state).empty()) << "a waiting call is not outstanding";
}

TEST_F(PollTest, NotYet_SetsTheNextTime) {
    polls();
    now += every;
    EXPECT_EQ(types(not_yet()), "polled");
    EXPECT_EQ(next(), every);
    EXPECT_EQ(due(), 0U);
    EXPECT_EQ(what_class(), "waiting");
}

TEST_F(PollTest, Result_SettlesTheCall) {
    polls();
    now += every;
    auto const d = polled(1, Done{quoted("live"), "T", {}});
    EXPECT_EQ(types(d), "submitted model_requested");
    EXPECT_EQ(first<Submitted>(d).receipt.via, "poll");
    EXPECT_EQ(first<Submitted>(d).what->output, quoted("live"));
    EXPECT_EQ(due(), 0U);
}

TEST_F(PollTest, FailedJob_SettlesTheCall) {
    polls();
    now += every;
    auto const d = polled(1, Failed{"it broke"});
    EXPECT_EQ(first<Submitted>(d).what->kind, SubmissionKind::error);
    EXPECT_EQ(first<Submitted>(d).what->error, "it broke");
}

PauseTerms question() {
    PauseTerms terms;
    terms.reason = PauseReason::elicitation;
    terms.continuation = Continuation::reentry;
    terms.message = "Which region?";
    terms.state = quoted("kept");
    return terms;
}

TEST_F(PollTest, QuestionOfTheJob_TakesThePlaceOfThePause) {
    polls();
    now += every;
    PendingId const pending_id = pending(1);
    EXPECT_EQ(types(polled(1, question())), "call_paused");
    EXPECT_EQ(pending(1), pending_id);
    EXPECT_EQ(call(1).pause->terms.reason, PauseReason::elicitation);
    now += every;
    EXPECT_EQ(due(), 0U) << "it is not polled while a person is asked";
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(answer_of(submit(pending_id, result("live"))), "wrong_kind");
    auto const d = submit(pending_id, decision(true));
    EXPECT_EQ(types(d), "submitted tool_started");
    EXPECT_NE(pending(1), pending_id) << "an answer is for one question";
    PauseTerms again;
    again.poll_every = every;
    again.state = quoted("answer");
    (void)pauses(1, again);
    now += every;
    ASSERT_EQ(due(), 1U);
    EXPECT_EQ(std::get<PollTool>(due_polls(state, now).begin()->second.what).state,
              quoted("answer"));
}

TEST_F(PollTest, QuestionThatTheToolMayNotAsk_FailsTheCall) {
    polls();
    now += every;
    PauseTerms terms = question();
    terms.reason = PauseReason::approval;
    auto const d = polled(1, terms);
    EXPECT_EQ(types(d), "submitted model_requested");
    EXPECT_EQ(first<Submitted>(d).what->error,
              "the tool paused for approval without having declared it");
}

TEST_F(PollTest, Claim_EndsWithTheQuestion) {
    polls();
    (void)when(Claim{pending(1)});
    now += every;
    (void)polled(1, question());
    EXPECT_FALSE(call(1).claim);
}

TEST_F(PollTest, Failures_BackOff) {
    polls();
    std::vector<Duration> waits;
    for (int i = 0; i < 8; ++i) {
        now += next();
        EXPECT_EQ(types(not_yet("no answer")), "polled");
        waits.push_back(next());
    }
    EXPECT_EQ(waits.front(), every * 2);
    EXPECT_EQ(waits.at(1), every * 4);
    EXPECT_EQ(waits.back(), limits::poll_back_off_max);
    now += next();
    (void)not_yet();
    EXPECT_EQ(next(), every) << "an answer ends the row of failures";
}

TEST_F(PollTest, Failures_NeverShortenALongInterval) {
    polls(Duration(3'600'000));
    now += next();
    (void)not_yet("no answer");
    EXPECT_EQ(next(), Duration(3'600'000));
}

TEST_F(PollTest, RetryAfterOfTheService_IsUsed) {
    polls();
    now += every;
    (void)not_yet("busy", Duration(900'000));
    EXPECT_EQ(next(), Duration(900'000));
    now += next();
    (void)not_yet("busy", Duration(90'000'000));
    EXPECT_EQ(next(), limits::retry_after_max) << "but only up to a limit";
}

TEST_F(PollTest, Crash_PollsAgainAndWritesNothing) {
    polls();
    now += every;
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(due(), 1U);
}

TEST_F(PollTest, SettledCall_IgnoresThePoll) {
    polls();
    now += every;
    Seq const since = call(1).pause->polled;
    PendingId const pending_id = pending(1);
    (void)submit(pending_id, result("pushed"));
    EXPECT_EQ(due(), 0U);
    EXPECT_EQ(types(when(PollOutcome{pending_id, since, Done{quoted("polled"), {}, {}}, {}})), "");
}

TEST_F(PollTest, RepeatedOutcome_CountsOnce) {
    polls();
    now += every;
    Seq const since = call(1).pause->polled;
    (void)not_yet("no answer");
    EXPECT_EQ(types(when(PollOutcome{pending(1), since, NotYet{"no answer", {}}, {}})), "");
    EXPECT_EQ(call(1).pause->poll_failures, 1U);
}

TEST_F(PollTest, Deadline_EndsThePolling) {
    asks_for({job()});
    PauseTerms terms;
    terms.poll_every = every;
    terms.timeout = every + Duration(1);
    (void)pauses(1, terms);
    now += every;
    (void)not_yet();
    EXPECT_EQ(wake_at(state), now + Duration(1)) << "the deadline comes before the next poll";
    EXPECT_EQ(types(later(Duration(1))), "expired model_requested");
}

TEST_F(PollTest, PausedSession_IsNotPolled) {
    polls();
    (void)move(Move::To::pause);
    now += every;
    EXPECT_EQ(due(), 0U);
    (void)move(Move::To::resume);
    EXPECT_EQ(due(), 1U);
}

}  // namespace
}  // namespace dormouse::session::testing
