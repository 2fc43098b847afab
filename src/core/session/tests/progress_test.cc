#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Progress and claims of workers while a call is open.
namespace dormouse::session::testing {
namespace {

class ProgressTest : public SessionTest {
protected:
    Decision progress(PendingId const& of, std::string key = {}) {
        return when(Progress{of, quoted("half"), std::move(key)});
    }
    Decision claim(PendingId const& of, Duration time) { return when(Claim{of, time}); }
};

TEST_F(ProgressTest, Progress_IsWrittenAndChangesNothingElse) {
    waits_for({job()});
    auto const wake = wake_at(state);
    auto const d = progress(pending(1));
    EXPECT_EQ(types(d), "progressed");
    EXPECT_EQ(wake_at(state), wake);
    EXPECT_EQ(d.events.back().activity, std::nullopt);
}

TEST_F(ProgressTest, EarlyProgress_IsAccepted) {
    asks_for({job()});
    EXPECT_EQ(types(progress(pending(1))), "progressed");
}

TEST_F(ProgressTest, SameKey_IsAcceptedOnce) {
    waits_for({job()});
    EXPECT_EQ(answer_of(progress(pending(1), "step 1")), "applied");
    auto const again = progress(pending(1), "step 1");
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(answer_of(progress(pending(1), "step 2")), "applied");
}

TEST_F(ProgressTest, SettledCall_AnswersWithItsOutcome_WithoutANote) {
    waits_for({job(), job()});
    PendingId const one = pending(1);
    (void)submit(one, result("ok"));
    EXPECT_EQ(answer_of(progress(one)), "conflict");
    EXPECT_EQ(types(progress(one)), "") << "progress leaves no note";
    EXPECT_EQ(answer_of(progress({id, 9, 1, {}})), "not_found");
}

TEST_F(ProgressTest, MoreThanTenASecond_IsRefused) {
    waits_for({job()});
    for (std::uint32_t i = 0; i < limits::progress_per_second_max; ++i)
        ASSERT_EQ(answer_of(progress(pending(1))), "applied");
    auto const d = progress(pending(1));
    EXPECT_EQ(answer_of(d), "rate_limited");
    EXPECT_GT(d.answer.error().retry_after_ms, 0);
    now += Duration(1'000);
    EXPECT_EQ(answer_of(progress(pending(1))), "applied");
}

TEST_F(ProgressTest, Progress_OfACall_IsBounded) {
    waits_for({job()});
    // The state after that many events.
    state.calls.at(1).progress_count = limits::progress_per_call_max;
    auto const request = request_of(Progress{pending(1), quoted("more"), {}});
    EXPECT_EQ(answer_of(request.decided_on(state)), "rate_limited");
}

TEST_F(ProgressTest, Claim_KeepsOthersAwayUntilItEnds) {
    waits_for({job()});
    EXPECT_EQ(types(claim(pending(1), Duration(60'000))), "claimed");
    by.name = "bob";
    auto const d = claim(pending(1), Duration(60'000));
    EXPECT_EQ(answer_of(d), "claimed");
    EXPECT_EQ(d.answer.error().extra.text(),
              "{\"until\":" + std::to_string(to_ms(now + Duration(60'000))) + "}");
    now += Duration(60'000);
    EXPECT_EQ(types(claim(pending(1), Duration(60'000))), "claimed");
}

TEST_F(ProgressTest, Claim_CanBeExtended) {
    waits_for({job()});
    (void)claim(pending(1), Duration(60'000));
    auto const d = claim(pending(1), Duration(120'000));
    EXPECT_EQ(first<Claimed>(d).until, now + Duration(120'000));
}

TEST_F(ProgressTest, Claim_IsReleasedOnlyByItsOwner) {
    waits_for({job()});
    EXPECT_EQ(types(claim(pending(1), Duration(0))), "") << "it is not claimed";
    (void)claim(pending(1), Duration(60'000));
    std::string const alice = std::exchange(by.name, "bob");
    EXPECT_EQ(answer_of(claim(pending(1), Duration(0))), "claimed");
    by.name = alice;
    EXPECT_EQ(first<Claimed>(claim(pending(1), Duration(0))).until, now);
    by.name = "bob";
    EXPECT_EQ(first<Claimed>(claim(pending(1), Duration(60'000))).by.name, "bob");
}

TEST_F(ProgressTest, Claim_IsBoundedAndWakesNothing) {
    waits_for({job()});
    auto const wake = wake_at(state);
    auto const d = claim(pending(1), limits::claim_max * 10);
    EXPECT_EQ(first<Claimed>(d).until, now + limits::claim_max);
    EXPECT_EQ(wake_at(state), wake);
}

TEST_F(ProgressTest, Claim_OfARunningOrSettledCall_IsRefused) {
    asks_for({job(), job()});
    PendingId const one = pending(1);
    EXPECT_EQ(answer_of(claim(one, Duration(1'000))), "not_ready");
    (void)cancel_call(one);
    EXPECT_EQ(answer_of(claim(one, Duration(1'000))), "cancelled");
}

TEST_F(ProgressTest, Claim_AcceptsResultsOfOthers) {
    waits_for({job()});
    (void)claim(pending(1), Duration(60'000));
    by.name = "webhook";
    EXPECT_EQ(answer_of(submit(pending(1), result("ok"))), "applied");
}

}  // namespace
}  // namespace dormouse::session::testing
