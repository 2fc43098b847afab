#include "session/limits.h"
#include "session/testing/session_fixture.h"

// Rule 9 and promise P7: a call has expired only once `expired` is durable; the first command after
// the deadline writes it.
namespace dormouse::session::testing {
namespace {

constexpr Duration day = limits::pause_timeout_default;

class TimeTest : public SessionTest {
protected:
    PauseTerms waits(Duration time, OnDeadline policy = OnDeadline::expire) {
        PauseTerms terms;
        terms.timeout = time;
        terms.on_deadline = policy;
        return terms;
    }
};

TEST_F(TimeTest, Deadline_ExpiresTheCallAndAsksTheModel) {
    waits_for({job()});
    now += day - Duration(1);
    EXPECT_EQ(types(tick()), "");
    auto const d = later(Duration(1));
    EXPECT_EQ(types(d), "expired model_requested");
    EXPECT_EQ(first<Expired>(d).reason, ErrorReason::expired);
    Receipt const receipt = first<Expired>(d).receipt;
    EXPECT_EQ(receipt.status, CallStatus::expired);
    EXPECT_EQ(receipt.kind, SubmissionKind::expiry);
    EXPECT_EQ(receipt.by, Actor{}) << "the runtime did it";
    EXPECT_EQ(receipt.via, "runtime");
}

TEST_F(TimeTest, FirstCommandAfterTheDeadline_WritesTheExpiry) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    now += day;
    auto const d = submit(pending_id, result("ok"));
    EXPECT_EQ(answer_of(d), "expired") << "410 whether or not a timer ran";
    EXPECT_EQ(types(d), "expired note model_requested");
}

TEST_F(TimeTest, EveryCommand_WritesWhatIsDueFirst) {
    waits_for({job(), job()});
    (void)create();
    now += day;
    EXPECT_EQ(types(prompt("hello")), "expired expired input_received model_requested");
}

TEST_F(TimeTest, CancelAfterTheDeadline_FindsItExpired) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    now += day;
    EXPECT_EQ(answer_of(cancel_call(pending_id)), "expired");
}

TEST_F(TimeTest, AnswerAfterTheDeadline_FindsItExpired) {
    asks_for({pausing(PauseReason::user_input)});
    PauseTerms terms = pause_for(PauseReason::user_input);
    terms.timeout = Duration(1'000);
    (void)pauses(1, terms);
    Prompt late;
    late.parts = parts("blue");
    late.answers = pending(1);
    late.answer_output = quoted("blue");
    now += Duration(1'000);
    EXPECT_EQ(answer_of(when(late)), "expired");
}

TEST_F(TimeTest, RefusedCommand_WritesOnlyWhatFellDue) {
    waits_for({job()});
    now += day;
    auto const d = submit({id, 9, 1, {}}, result("ok"));
    EXPECT_EQ(answer_of(d), "not_found");
    EXPECT_EQ(types(d), "expired model_requested");
}

TEST_F(TimeTest, ClockStepsBack_UndoesNothing) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    (void)later(day);
    now -= Duration(3'600'000);
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "expired");
}

TEST_F(TimeTest, ClockStepsBack_BeforeTheDeadline_DelaysIt) {
    waits_for({job()});
    Time const deadline = *call(1).pause->deadline;
    now -= Duration(3'600'000);
    EXPECT_EQ(types(tick()), "");
    EXPECT_EQ(wake_at(state), deadline);
    now = deadline;
    EXPECT_EQ(types(tick()), "expired model_requested");
}

TEST_F(TimeTest, FastClock_ExpiresEarlyAndFinally) {
    waits_for({job()});
    PendingId const pending_id = pending(1);
    now += day;
    (void)tick();
    now -= day;
    EXPECT_EQ(answer_of(submit(pending_id, result("ok"))), "expired");
    EXPECT_FALSE(state.calls.contains(1));
}

TEST_F(TimeTest, Tick_OfAnIdleSession_WritesNothing) {
    waits_for({job()});
    Seq const head = state.head;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(types(later(Duration(1'000))), "");
    EXPECT_EQ(state.head, head);
}

TEST_F(TimeTest, EarliestDeadline_Wakes) {
    asks_for({job(), job(), job()});
    (void)pauses(1, waits(Duration(3'000)));
    (void)pauses(2, waits(Duration(1'000)));
    (void)pauses(3, waits(Duration(2'000)));
    EXPECT_EQ(wake_at(state), now + Duration(1'000));
    EXPECT_EQ(types(later(Duration(1'000))), "expired");
    EXPECT_EQ(wake_at(state), now + Duration(1'000));
    EXPECT_EQ(types(later(Duration(2'000))), "expired expired model_requested")
        << "one request reports both";
}

TEST_F(TimeTest, OnDeadlineDeny_TellsTheModelOfTheDenial) {
    asks_for({job()});
    (void)pauses(1, waits(Duration(1'000), OnDeadline::deny));
    EXPECT_EQ(first<Expired>(later(Duration(1'000))).reason, ErrorReason::denied);
}

TEST_F(TimeTest, OnDeadlineDone_IsTheTimersResult) {
    CallSpec timer = pausing(PauseReason::handoff);
    PauseTerms terms = waits(Duration(60'000), OnDeadline::done);
    terms.reason = PauseReason::handoff;
    timer.at_once = terms;
    asks_for({timer});
    PendingId const pending_id = pending(1);
    EXPECT_EQ(what_class(), "waiting");
    auto const d = later(Duration(60'000));
    EXPECT_EQ(types(d), "submitted model_requested");
    EXPECT_EQ(first<Submitted>(d).what->output, quoted("done"));
    EXPECT_EQ(first<Submitted>(d).receipt.status, CallStatus::completed);
    EXPECT_EQ(first<Submitted>(d).receipt.digest, result("done").digest);
    EXPECT_EQ(archive.receipts.at(pending_id).via, "runtime");
}

TEST_F(TimeTest, PausedSession_ExpiresCallsButStartsNothing) {
    asks_for({job(), plain()});
    (void)pauses(1, waits(Duration(5'000)));
    (void)tool_fails(2, true);
    (void)move(Move::To::pause);
    EXPECT_EQ(wake_at(state), now + Duration(5'000)) << "not for the retry";
    EXPECT_EQ(types(later(Duration(5'000))), "expired");
    EXPECT_EQ(wake_at(state), std::nullopt);
    EXPECT_EQ(types(move(Move::To::resume)), "status_changed tool_started");
}

TEST_F(TimeTest, PausedSession_NeitherAsksNorGivesUp) {
    (void)create();
    (void)prompt("please");
    (void)model_fails();
    (void)move(Move::To::pause);
    EXPECT_EQ(wake_at(state), std::nullopt);
    EXPECT_EQ(types(later(limits::retry_max)), "");
    (void)move(Move::To::resume);
    EXPECT_LE(wake_at(state), now);
    EXPECT_EQ(types(tick()), "model_requested");
    (void)move(Move::To::pause);
    EXPECT_EQ(types(later(limits::model_time_limit)), "") << "its answer may still come";
}

TEST_F(TimeTest, DueWhileDown_IsWrittenInOneAppend) {
    join(1, false);
    asks_for({job(), job()});
    (void)pauses(1, waits(Duration(1'000)));
    (void)pauses(2, waits(Duration(2'000)));
    now += Duration(3 * 24 * 3'600'000LL);
    auto const d = restart();
    EXPECT_EQ(types(d), "expired expired model_requested");
    EXPECT_EQ(first<Expired>(d).receipt.at, now);
}

TEST_F(TimeTest, EveryEffect_HasATimeLimit) {
    slots(2);
    asks_for({plain(), gated(plain())});
    EXPECT_EQ(outstanding(state).size(), 2U);
    for (auto const& [effect_id, effect] : outstanding(state)) {
        EXPECT_TRUE(state.timer_at.contains({effect_id.call, TimerKind::give_up}));
    }
}

class WarningTest : public TimeTest {
protected:
    // A call with a deadline of ten seconds and a warning three seconds before it.
    void waits_with_warning() {
        PauseTerms terms = waits(Duration(10'000));
        terms.warn_before = Duration(3'000);
        asks_for({job()});
        (void)pauses(1, terms);
    }
};

class ReminderTest : public TimeTest {
protected:
    // An approval without a deadline, with reminders after 60 s and every 100 s.
    void waits_for_a_person(std::optional<Duration> timeout = std::nullopt) {
        PauseTerms terms = pause_for(PauseReason::approval);
        terms.timeout = timeout;
        terms.escalate_to = timeout ? std::vector<std::string>{"carl"} : std::vector<std::string>{};
        terms.remind_after = Duration(60'000);
        terms.remind_every = Duration(100'000);
        asks_for({person()});
        (void)pauses(1, terms);
    }
    static CallSpec person() { return pausing(PauseReason::approval); }
};

TEST_F(ReminderTest, Answerers_AreRemindedRepeatedly) {
    waits_for_a_person();
    EXPECT_EQ(next_timer(state), now + Duration(60'000));
    EXPECT_EQ(types(later(Duration(59'999))), "");
    auto const d = later(Duration(1));
    EXPECT_EQ(types(d), "reminded");
    EXPECT_EQ(first<Reminded>(d).pending, pending(1));
    EXPECT_EQ(first<Reminded>(d).number, 1U);
    EXPECT_EQ(next_timer(state), now + Duration(100'000));
    EXPECT_EQ(first<Reminded>(later(Duration(100'000))).number, 2U);
}

TEST_F(ReminderTest, MissedReminders_AreOne) {
    waits_for_a_person();
    EXPECT_EQ(types(later(Duration(10'000'000))), "reminded");
    EXPECT_EQ(types(later(Duration(99'999))), "");
    EXPECT_EQ(types(later(Duration(1))), "reminded");
}

TEST_F(ReminderTest, SettledCall_HasNoReminder) {
    waits_for_a_person();
    (void)submit(pending(1), decision(true));
    EXPECT_FALSE(state.timer_at.contains({1, TimerKind::remind}));
}

TEST_F(ReminderTest, Reminders_AreLimited) {
    waits_for_a_person();
    for (std::uint32_t i = 0; i < limits::reminders_max; ++i) (void)later(Duration(100'000));
    EXPECT_EQ(state.calls.at(1).pause->reminders, limits::reminders_max);
    EXPECT_FALSE(next_timer(state));
    EXPECT_EQ(types(later(Duration(1'000'000))), "");
}

TEST_F(ReminderTest, AfterEscalation_RemindersStartAgain) {
    waits_for_a_person(Duration(90'000));
    EXPECT_EQ(types(later(Duration(90'000))), "reassigned");
    EXPECT_EQ(types(later(Duration(59'999))), "");
    auto const d = later(Duration(1));
    EXPECT_EQ(types(d), "reminded");
    EXPECT_EQ(first<Reminded>(d).number, 1U);
}

TEST_F(ReminderTest, DefaultReminders_AreOnlyForPeople) {
    limits.remind_after = Duration(5'000);
    asks_for({job(), person()});
    (void)pauses(1, pause_for(PauseReason::tool_result));
    (void)pauses(2, pause_for(PauseReason::approval));
    EXPECT_FALSE(state.timer_at.contains({1, TimerKind::remind}));
    EXPECT_EQ(state.timer_at.at({2, TimerKind::remind}), now + Duration(5'000));
    EXPECT_EQ(types(later(Duration(5'000))), "reminded");
    EXPECT_FALSE(state.timer_at.contains({2, TimerKind::remind}));  // once: no remind_every
}

TEST_F(WarningTest, NearDeadline_IsReportedOnce) {
    waits_with_warning();
    EXPECT_EQ(next_timer(state), now + Duration(7'000));
    EXPECT_EQ(types(later(Duration(6'999))), "");
    auto const d = later(Duration(1));
    EXPECT_EQ(types(d), "deadline_near");
    EXPECT_EQ(first<DeadlineNear>(d).pending, pending(1));
    EXPECT_EQ(first<DeadlineNear>(d).deadline, now + Duration(3'000));
    EXPECT_EQ(types(later(Duration(2'999))), "");
    EXPECT_EQ(types(later(Duration(1))), "expired model_requested");
}

TEST_F(WarningTest, NearDeadline_AfterTheDeadline_IsNotReported) {
    waits_with_warning();
    EXPECT_EQ(types(later(Duration(10'000))), "expired model_requested");
}

TEST_F(WarningTest, AnsweredInTime_HasNoWarning) {
    waits_with_warning();
    EXPECT_EQ(answer_of(submit(pending(1), result("ok"))), "applied");
    EXPECT_EQ(types(later(Duration(8'000))), "");
}

TEST_F(WarningTest, ClockStepsAheadTenYearsAndBack_ExpiresForGood) {
    waits_with_warning();
    constexpr Duration ten_years{315'576'000'000};
    EXPECT_EQ(types(later(ten_years)), "expired model_requested");
    now -= 2 * ten_years;
    EXPECT_EQ(types(tick()), "");
}

TEST_F(WarningTest, ClockStepsBackTenYears_LosesNothing) {
    waits_with_warning();
    constexpr Duration ten_years{315'576'000'000};
    now -= ten_years;
    EXPECT_EQ(types(tick()), "");
    EXPECT_EQ(answer_of(submit(pending(1), result("ok"))), "applied");
}

}  // namespace
}  // namespace dormouse::session::testing
