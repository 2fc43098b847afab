#include "runner/testing/two_runners_fixture.h"

// Calls that continue only where what they wait for is: on the connection of one process.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;

class HeldCalls : public testing::TwoRunners {
protected:
    [[nodiscard]] static Json held_by(testing::SharedServer const& server) {
        return Json::trusted("{\"holder\":" + std::to_string(server.nodes.epoch()) + "}");
    }
    // A call of A, whose tool was asked a question by what it holds.
    void ask_a_person() {
        begin({pausing(PauseReason::elicitation)});
        pending = a.effects.ran.back().run.pending;
        PauseTerms terms = pause_for(PauseReason::elicitation);
        terms.continuation = Continuation::reentry;
        terms.state = held_by(a);
        terms.timeout = Duration(60'000);
        a.effects.finish(terms);
        loop.run();
        ASSERT_EQ(driver(), 0U) << "it sleeps";
    }
    [[nodiscard]] Submit decide() const { return {pending, decision(true), "http", {}, {}, {}}; }
    void kill_a() {
        a.runner.reset();
        b.journal.store->declare_gone(a.nodes.epoch());
    }
    // A call of A that A polls for.
    void wait_for_a_task() {
        begin({job()});
        PauseTerms terms;
        terms.poll_every = Duration(1'500);
        terms.state = held_by(a);
        a.effects.finish(terms);
        loop.run();
        a.nodes.share = false;
        ASSERT_EQ(b.ask(session, Change{"a title", {}, {}, {}}), "applied") << "it has it, too";
    }

    PendingId pending;
};

TEST_F(HeldCalls, Poll_IsMadeByTheHolder_HoweverLate) {
    wait_for_a_task();
    loop.advance(Duration(20'000));
    EXPECT_EQ(a.effects.polled.size(), 1U) << "although it is B's share";
    EXPECT_EQ(b.effects.polled.size(), 0U) << "although it is overdue";
    kill_a();
    loop.advance(Duration(5'000));
    EXPECT_EQ(b.effects.polled.size(), 1U);
}

TEST_F(HeldCalls, Poll_OfAHolderThatLeft_IsMadeByAnother) {
    wait_for_a_task();
    kill_a();
    loop.advance(Duration(5'000));
    EXPECT_EQ(b.effects.polled.size(), 1U);
}

// B drives the session, and later holds a question of it.
TEST_F(HeldCalls, Poll_OfASessionOfAnotherDriver_IsMadeByTheHolder) {
    begin({job(), with_policy(pausing(PauseReason::elicitation), CrashPolicy::retry)});
    PauseTerms terms;
    terms.poll_every = Duration(1'500);
    terms.state = held_by(a);
    a.effects.finish_at(0, terms);
    loop.run();
    pending = a.effects.ran.back().run.pending;
    PauseTerms asks = pause_for(PauseReason::elicitation);
    asks.continuation = Continuation::reentry;
    a.effects.finish(asks);
    loop.run();
    EXPECT_EQ(b.ask(session, decide()), "applied");
    ASSERT_EQ(b.effects.ran.size(), 1U) << "nobody holds this one";
    pending = b.effects.ran.back().run.pending;
    asks.state = held_by(b);
    b.effects.finish(asks);
    loop.advance(Duration(20'000));
    EXPECT_EQ(a.effects.polled.size(), 1U);
    EXPECT_EQ(b.effects.polled.size(), 0U);
}

TEST_F(HeldCalls, AnswerElsewhere_ContinuesAtTheHolder) {
    ask_a_person();
    EXPECT_EQ(b.ask(session, decide()), "applied");
    EXPECT_EQ(b.ask(session, decide()), "duplicate");
    EXPECT_EQ(driver(), 0U);
    EXPECT_EQ(b.effects.starts, 0);
    a.runner->appended_elsewhere(session);
    loop.run();
    ASSERT_EQ(a.effects.ran.size(), 1U) << "before any scan";
    EXPECT_TRUE(a.effects.ran.back().run.decision);
    EXPECT_EQ(driver(), a.nodes.epoch());
    a.effects.finish(Done{quoted("out"), {}, {}});
    loop.advance(Duration(10'000));
    EXPECT_EQ(a.effects.requests.size(), 1U);
    EXPECT_EQ(b.effects.starts, 0);
}

// As when the feed does not tell what was appended, or the holder has it no longer in memory.
TEST_F(HeldCalls, AnswerElsewhere_IsFoundByTheScanOfTheHolder) {
    ask_a_person();
    a.runner->forget_memory();
    a.nodes.share = false;
    EXPECT_EQ(b.ask(session, decide()), "applied");
    loop.advance(Duration(5'000));
    EXPECT_EQ(a.effects.ran.size(), 1U);
    EXPECT_EQ(b.effects.starts, 0);
}

TEST_F(HeldCalls, AnswerAfterTheHolderLeft_ContinuesWhereItCame) {
    ask_a_person();
    kill_a();
    EXPECT_EQ(b.ask(session, decide()), "applied");
    EXPECT_EQ(b.effects.ran.size(), 1U);
    EXPECT_EQ(driver(), b.nodes.epoch());
}

TEST_F(HeldCalls, HolderThatLeavesAfterTheAnswer_IsReplaced) {
    ask_a_person();
    EXPECT_EQ(b.ask(session, decide()), "applied");
    EXPECT_EQ(b.effects.starts, 0);
    kill_a();
    scan();
    EXPECT_EQ(b.effects.ran.size(), 1U);
    EXPECT_EQ(driver(), b.nodes.epoch());
}

// An epoch that no process has had, as in a session of another store.
TEST_F(HeldCalls, UnknownHolder_HoldsNothing) {
    begin({pausing(PauseReason::elicitation)});
    pending = a.effects.ran.back().run.pending;
    PauseTerms terms = pause_for(PauseReason::elicitation);
    terms.continuation = Continuation::reentry;
    terms.state = Json::trusted(R"({"holder":1000})");
    a.effects.finish(terms);
    loop.run();
    EXPECT_EQ(b.ask(session, decide()), "applied");
    EXPECT_EQ(b.effects.ran.size(), 1U);
}

TEST_F(HeldCalls, CancelledElsewhere_ContinuesAtTheHolder) {
    ask_a_person();
    EXPECT_EQ(b.ask(session, Cancel{Cancel::Scope::turn, {}}), "applied");
    EXPECT_EQ(b.ask(session, prompt()), "applied");
    a.runner->appended_elsewhere(session);
    loop.run();
    EXPECT_EQ(a.effects.requests.size() + b.effects.requests.size(), 1U) << "the next turn";
}

TEST_F(HeldCalls, Expiry_IsWritten) {
    ask_a_person();
    b.nodes.share = true;
    a.nodes.share = false;
    loop.advance(Duration(70'000));
    EXPECT_EQ(stored().waiting, 0U);
}

}  // namespace
}  // namespace dormouse::runner
