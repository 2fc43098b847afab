#include "session/testing/session_fixture.h"

// n-of-m: a submission is a vote; the n-th equal one also settles the call.
namespace dormouse::session::testing {
namespace {

class VoteTest : public SessionTest {
protected:
    void needs(std::uint32_t n) {
        asks_for({gated(plain())});
        PauseTerms terms = pause_for(PauseReason::approval);
        terms.answer = {{"ann", "bob", "cleo"}, n};
        (void)gate(1, terms);
        pending_id_ = pending(1);
    }
    Decision votes(std::string const& name, bool approved) {
        by.name = name;
        return submit(pending_id_, decision(approved));
    }
    PendingId pending_id_;
};

TEST_F(VoteTest, FirstVote_IsCountedAndTheCallWaits) {
    needs(2);
    auto const d = votes("ann", true);
    EXPECT_EQ(answer_of(d), "counted");
    EXPECT_EQ(types(d), "voted");
    EXPECT_EQ(d.answer->votes.size(), 1U);
    EXPECT_EQ(d.answer->receipt, std::nullopt);
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(VoteTest, NthEqualVote_Settles) {
    needs(2);
    (void)votes("ann", true);
    auto const d = votes("bob", true);
    EXPECT_EQ(answer_of(d), "applied");
    EXPECT_EQ(types(d), "voted submitted");
    EXPECT_TRUE(find_effect<AskGate>()->decision->approved);
}

TEST_F(VoteTest, UnequalVotes_DoNotAddUp) {
    needs(2);
    (void)votes("ann", true);
    Submission edited = decision(true);
    edited.arguments = json(R"({"to":"staging"})");
    edited.digest = sha256("edited");
    by.name = "bob";
    EXPECT_EQ(answer_of(submit(pending_id_, edited)), "counted");
    EXPECT_EQ(types(votes("cleo", true)), "voted submitted");
}

TEST_F(VoteTest, OneDenial_Settles) {
    needs(3);
    (void)votes("ann", true);
    auto const d = votes("bob", false);
    EXPECT_EQ(answer_of(d), "applied");
    EXPECT_EQ(types(d), "voted submitted");
    EXPECT_FALSE(first<Submitted>(d).what->approved);
    EXPECT_FALSE(find_effect<AskGate>()->decision->approved);
    EXPECT_EQ(answer_of(votes("cleo", true)), "conflict");
}

TEST_F(VoteTest, APerson_VotesOnce) {
    needs(2);
    (void)votes("ann", true);
    auto const again = votes("ann", true);
    EXPECT_EQ(answer_of(again), "counted");
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(again.answer->votes.size(), 1U);
    EXPECT_EQ(answer_of(votes("ann", false)), "conflict");
}

TEST_F(VoteTest, OthersThanAnswerers_HaveNoVote) {
    needs(2);
    EXPECT_EQ(answer_of(votes("dan", true)), "not_an_answerer");
    EXPECT_TRUE(call(1).votes.empty());
}

TEST_F(VoteTest, VoteAfterSettlement_IsADuplicateOrAConflict) {
    needs(2);
    (void)votes("ann", true);
    (void)votes("bob", true);
    EXPECT_EQ(answer_of(votes("cleo", true)), "duplicate");
    EXPECT_EQ(answer_of(votes("cleo", false)), "conflict");
}

TEST_F(VoteTest, Votes_SurviveACrash) {
    needs(2);
    (void)votes("ann", true);
    EXPECT_EQ(types(restart()), "");
    EXPECT_EQ(types(votes("bob", true)), "voted submitted");
}

TEST_F(VoteTest, NextPause_HasNoVotes) {
    needs(2);
    (void)votes("ann", true);
    (void)votes("bob", true);
    PauseTerms terms = pause_for(PauseReason::approval);
    terms.answer.need = 2;
    (void)gate(1, terms);
    pending_id_ = pending(1);
    EXPECT_EQ(types(votes("ann", true)), "voted");
    EXPECT_EQ(call(1).votes.size(), 1U);
}

}  // namespace
}  // namespace dormouse::session::testing
