#include "runner/testing/two_runners_fixture.h"

// A process whose memory of a session becomes outdated during a turn: the store fell back, or the
// process takes part again under a new epoch.
namespace dormouse::runner::testing {
namespace {

using namespace session;
using namespace session::testing;

// A drives the session under its former epoch, which is not gone yet.
TEST_F(TwoRunners, NewEpochDuringALookup_NothingIsAdopted) {
    begin({with_policy(plain(), CrashPolicy::never)});
    int reads = 0;
    a.journal.before_read = [&] { a.journal.hold_reads = ++reads == 2; };
    a.runner->forget_memory();
    std::string answer;
    a.runner->command(
        session, prompt(), {{ActorType::token, "ann"}, "key", "digest"},
        [&](Result<Answer> const& got) { answer = answer_of(Decision{{}, got, {}}); });
    loop.run();
    a.journal.before_read = {};
    ASSERT_TRUE(a.journal.hold_reads) << "it looks the key up";
    Epoch const before = a.nodes.epoch();
    a.runner->fenced();
    loop.run();
    ASSERT_GT(a.nodes.epoch(), before);
    a.journal.release_reads();
    loop.run();
    EXPECT_EQ(answer, "applied");
    EXPECT_EQ(driver(), before);
    EXPECT_EQ(stored().calls.begin()->second.phase, CallPhase::running);
}

// The append may be one of a history that is lost.
TEST_F(TwoRunners, MemoryForgottenInAnAppend_RunStartsAfterANewRead) {
    begin({});
    ASSERT_EQ(a.ask(session, prompt()), "applied");
    a.journal.hold = true;
    a.effects.reply({plain()});
    loop.run();
    ASSERT_EQ(a.journal.held(), 1U);
    a.runner->forget_memory();
    loop.run();
    a.journal.hold = false;
    a.journal.hold_reads = true;
    a.journal.release();
    loop.run();
    EXPECT_EQ(a.effects.ran.size(), 0U);
    a.journal.release_reads();
    loop.run();
    EXPECT_EQ(a.effects.ran.size(), 1U);
}

// The disk falls back after it took the append, and another process could continue the session
// before the answer comes.
TEST_F(TwoRunners, LateAnswerToALostAppend_RunIsNotStarted) {
    begin({});
    ASSERT_EQ(a.ask(session, prompt()), "applied");
    a.journal.before_answer = [this, earlier = a.journal.disk->copy()] {
        a.journal.disk->fall_back(earlier);
        loop.now += Duration(1'001);
    };
    a.effects.reply({plain()});
    ASSERT_TRUE(a.effects.requests.empty());
    loop.run();
    EXPECT_EQ(a.effects.ran.size(), 0U);
    EXPECT_EQ(a.effects.requests.size(), 1U) << "the model is asked again";
}

TEST_F(TwoRunners, LateAnswerToAnAppend_RunStartsAfterANewRead) {
    begin({});
    ASSERT_EQ(a.ask(session, prompt()), "applied");
    a.journal.before_answer = [this] {
        loop.now += Duration(1'001);
        a.journal.hold_reads = true;
    };
    a.effects.reply({plain()});
    loop.run();
    EXPECT_EQ(a.effects.ran.size(), 0U);
    a.journal.release_reads();
    loop.run();
    EXPECT_EQ(a.effects.ran.size(), 1U);
}

// Its start is stored late, and the comparison with the store that follows is late, too.
class LateComparison : public TwoRunners {
protected:
    void hold_comparison() {
        begin({});
        ASSERT_EQ(a.ask(session, prompt()), "applied");
        earlier = a.journal.disk->copy();
        a.journal.before_answer = [this] { loop.now += Duration(1'001); };
        a.journal.before_read = [this, reads = 0]() mutable {
            if (++reads == 2) a.journal.hold_reads = true;
        };
        a.effects.reply({plain()});
        loop.run();
        a.journal.before_read = {};
        ASSERT_TRUE(a.journal.hold_reads);
    }
    void answer_late() {
        loop.now += Duration(1'001);
        a.journal.release_reads();
        loop.run();
    }
    decltype(a.journal.disk->copy()) earlier;
};

TEST_F(LateComparison, StoreFellBack_RunIsNotStarted) {
    hold_comparison();
    EXPECT_EQ(a.effects.ran.size(), 0U);
    a.journal.disk->fall_back(earlier);
    answer_late();
    EXPECT_EQ(a.effects.ran.size(), 0U);
    EXPECT_EQ(a.effects.requests.size(), 1U) << "the model is asked again";
}

TEST_F(LateComparison, StoreIsSlow_RunStarts) {
    hold_comparison();
    a.journal.before_read = [this] { loop.now += Duration(1'500); };
    answer_late();
    EXPECT_EQ(a.effects.ran.size(), 1U);
}

// A session of an external agent whose records are not all in memory, so that each prompt reads
// the store before it begins.
class LatePrompt : public TwoRunners {
protected:
    LatePrompt() {
        TurnTerms external;
        external.on_restart = OnRestart::ask;
        a.effects.turn_terms = b.effects.turn_terms = external;
        a.runner->create({{}, "default", "demo", {}, {}, {}, {}, {}, {}},
                         {{ActorType::token, "ann"}},
                         [this](Result<Created> const& made) { session = made->session; });
        loop.run();
        for (int i = 0; i < 4; ++i) end_prompt();
        earlier = a.journal.disk->copy();
        is_read_from_store();
    }
    void end_prompt() {
        ASSERT_EQ(a.ask(session, long_prompt()), "applied");
        ASSERT_EQ(a.effects.requests.size(), 1U);
        auto one = std::move(a.effects.requests.back());
        a.effects.requests.pop_back();
        AskModel const& ask = one.request.ask;
        one.done(AgentReply{ask.turn, ask.step, ask.attempt, 0, FinishReason::stop, {}, {}, {}});
        loop.run();
    }
    static Prompt long_prompt() {
        Prompt out;
        out.parts = Given::parts(std::string(limits::prompt_bytes_max / 2, 'x'));
        return out;
    }
    // Prompts again, and holds the answer to the read for the prompt.
    void is_read_from_store() {
        int reads = 0;
        a.journal.before_read = [this, &reads] { a.journal.hold_reads = ++reads == 1; };
        (void)a.ask(session, long_prompt());
        a.journal.before_read = {};
        ASSERT_TRUE(a.journal.hold_reads) << "the prompt's session is read";
        ASSERT_EQ(a.effects.requests.size(), 0U);
    }
    void answer_after(Duration time) {
        loop.now += time;
        a.journal.release_reads();
        loop.run();
    }
    decltype(a.journal.disk->copy()) earlier;
};

TEST_F(LatePrompt, StoreFellBackDuringALateRead_DoesNotBegin) {
    a.journal.disk->fall_back(earlier);
    answer_after(Duration(1'001));
    EXPECT_EQ(a.effects.requests.size(), 0U);
}

TEST_F(LatePrompt, LateRead_BeginsAfterAComparison) {
    int reads = 0;
    a.journal.before_read = [&reads] { ++reads; };
    answer_after(Duration(1'001));
    EXPECT_EQ(reads, 1);
    EXPECT_EQ(a.effects.requests.size(), 1U);
}

TEST_F(LatePrompt, QuickRead_BeginsAtOnce) {
    int reads = 0;
    a.journal.before_read = [&reads] { ++reads; };
    answer_after(Duration(1'000));
    EXPECT_EQ(reads, 0);
    EXPECT_EQ(a.effects.requests.size(), 1U);
}

TEST_F(LatePrompt, StoreIsSlow_Begins) {
    a.journal.before_read = [this] { loop.now += Duration(1'500); };
    answer_after(Duration(1'001));
    EXPECT_EQ(a.effects.requests.size(), 1U);
}

// The turn is cancelled elsewhere during the read.
TEST_F(LatePrompt, TurnEndedElsewhereDuringALateRead_DoesNotBegin) {
    EXPECT_EQ(b.ask(session, Cancel{Cancel::Scope::turn, {}}), "applied");
    answer_after(Duration(1'001));
    EXPECT_EQ(a.effects.requests.size(), 0U);
}

// A run whose start is stored and that never begins would be in doubt.
TEST_F(TwoRunners, LateAnswerDuringADrain_RunStartsBeforeTheEnd) {
    begin({});
    ASSERT_EQ(a.ask(session, prompt()), "applied");
    a.journal.before_answer = [this] {
        loop.now += Duration(1'001);
        a.journal.hold_reads = true;
    };
    bool drained = false;
    a.journal.hold = true;
    a.effects.reply({plain()});
    loop.run();
    a.runner->drain([&drained] { drained = true; });
    a.journal.release();
    loop.advance(Duration(100));
    EXPECT_FALSE(drained);
    a.journal.release_reads();
    loop.run();
    EXPECT_EQ(a.effects.ran.size(), 1U);
}

}  // namespace
}  // namespace dormouse::runner::testing
