#include "session/testing/session_fixture.h"

// Escalation: at the deadline other people are asked, under the same id and for the same time
// again. Only after that on_deadline applies.
namespace dormouse::session::testing {
namespace {

constexpr Duration minute{60'000};

class EscalateTest : public SessionTest {
protected:
    void asks(std::uint32_t need = 1) {
        asks_for({gated(plain())});
        PauseTerms terms = pause_for(PauseReason::approval);
        terms.answer = {{"ann", "bob"}, need};
        terms.timeout = minute;
        terms.on_deadline = OnDeadline::deny;
        terms.escalate_to = {"carl"};
        (void)gate(1, terms);
        pending_id_ = pending(1);
    }
    Decision votes(std::string const& name, bool approved) {
        by.name = name;
        return submit(pending_id_, decision(approved));
    }
    PendingId pending_id_;
};

TEST_F(EscalateTest, AtTheDeadline_OthersAreAsked) {
    asks();
    auto const d = later(minute);
    EXPECT_EQ(types(d), "reassigned");
    EXPECT_EQ(first<Reassigned>(d).pending, pending_id_) << "the same id";
    EXPECT_EQ(first<Reassigned>(d).answerers, std::vector<std::string>{"carl"});
    EXPECT_EQ(first<Reassigned>(d).deadline, now + minute);
    EXPECT_EQ(wake_at(state), now + minute);
    EXPECT_EQ(archive.rows.at(pending_id_).deadline, now + minute) << "lists show the new one";
    EXPECT_EQ(archive.rows.at(pending_id_).created, now - minute)
        << "it has waited since it was asked";
}

TEST_F(EscalateTest, AfterEscalation_OnlyTheNewAnswerersMayAnswer) {
    asks();
    (void)later(minute);
    EXPECT_EQ(answer_of(votes("ann", true)), "not_an_answerer");
    EXPECT_EQ(answer_of(votes("carl", true)), "applied");
    EXPECT_TRUE(find_effect<AskGate>()->decision->approved);
}

TEST_F(EscalateTest, AtTheSecondDeadline_IsDenied) {
    asks();
    (void)later(minute);
    auto const d = later(minute);
    EXPECT_EQ(types(d), "expired model_requested");
    EXPECT_EQ(first<Expired>(d).reason, ErrorReason::denied);
}

TEST_F(EscalateTest, LateAnswerOfTheFirst_IsRefused) {
    asks();
    now += minute;
    auto const d = votes("ann", true);
    EXPECT_EQ(types(d), "reassigned");
    EXPECT_EQ(answer_of(d), "not_an_answerer");
}

TEST_F(EscalateTest, VotesBeforeEscalation_Count) {
    asks(2);
    EXPECT_EQ(answer_of(votes("ann", true)), "counted");
    (void)later(minute);
    EXPECT_EQ(answer_of(votes("carl", true)), "applied");
}

TEST_F(EscalateTest, DownTime_NewAnswerersGetTheirFullTime) {
    asks();
    now += minute * 100;
    auto const d = restart();
    EXPECT_EQ(types(d), "reassigned");
    EXPECT_EQ(first<Reassigned>(d).deadline, now + minute);
    EXPECT_EQ(types(restart()), "");
}

}  // namespace
}  // namespace dormouse::session::testing
