#include "runner/runner.h"

#include "runner/testing/runner_fixture.h"
#include "session/limits.h"
#include "store/memory/memory_store.h"

// Work that waits for something other than an outcome: for the time of a poll, for a gate that is
// not configured, for a free slot at a model.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using RunnerTest =
    testing::RunnerTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;
using Queued = RunnerTest;
constexpr Duration one_ms{1};

// A session whose call is polled every 30 s.
class Polling : public RunnerTest {
protected:
    static constexpr Duration every{30'000};
    Polling() {
        session = new_session();
        (void)ask(session, prompt("please"));
        effects.reply({job()});
        loop.run();
        PauseTerms pause;
        pause.poll_every = every;
        effects.finish(pause);
        loop.run();
        runner->start();
        loop.run();
    }
    void answer(decltype(PollOutcome::what) what) {
        auto one = std::move(effects.polled.back());
        effects.polled.pop_back();
        one.done(PollOutcome{one.poll.pending, one.id.since, std::move(what), {}});
        loop.run();
    }
    SessionId session;
};

TEST_F(Polling, Poll_RunsOnceEachIntervalAndWritesNothing) {
    auto const commits = journal.commits.size();
    loop.advance(every - 2'000 * one_ms);
    EXPECT_TRUE(effects.polled.empty());
    loop.advance(60'000 * one_ms);
    EXPECT_EQ(effects.polled.size(), 1U) << "it has not answered yet";
    EXPECT_EQ(journal.commits.size(), commits);
    answer(NotYet{});
    EXPECT_EQ(journal.commits.size(), commits + 1);
    loop.advance(every + 2'000 * one_ms);
    EXPECT_EQ(effects.polled.size(), 1U);
    answer(Done{quoted("live"), {}, {}});
    EXPECT_TRUE(stored(session).calls.empty());
    loop.advance(10 * every);
    EXPECT_TRUE(effects.polled.empty());
}

TEST_F(Polling, Session_SleepsBetweenPolls) {
    open(1);
    runner->start();
    (void)new_session();
    (void)new_session();
    loop.run();
    EXPECT_EQ(runner->resident(), 1U);
    loop.advance(every + 2'000 * one_ms);
    EXPECT_EQ(effects.polled.size(), 1U) << "its timer loads it";
    EXPECT_EQ(stored(session).outstanding.size(), 0U);
}

// Its stored time is long past: that is no fault.
TEST_F(Polling, PollThatTakesLong_IsAttended) {
    loop.advance(every - 2'000 * one_ms);
    EXPECT_FALSE(runner->attends(session, clock.now())) << "in memory, but nothing runs yet";
    loop.advance(60'000 * one_ms);
    ASSERT_EQ(effects.polled.size(), 1U);
    EXPECT_TRUE(runner->attends(session, clock.now()));
    restart();
    EXPECT_FALSE(runner->attends(session, clock.now())) << "it is not in memory";
}

TEST_F(Polling, CrashDuringAPoll_PollsAgain) {
    loop.advance(every + 2'000 * one_ms);
    ASSERT_EQ(effects.polled.size(), 1U);
    restart();
    effects.polled.clear();
    runner->start();
    loop.advance(2'000 * one_ms);
    EXPECT_EQ(effects.polled.size(), 1U);
}

TEST_F(Polling, ResultFromElsewhere_StopsThePoll) {
    loop.advance(every + 2'000 * one_ms);
    ASSERT_EQ(effects.polled.size(), 1U);
    auto const& poll = effects.polled.back();
    EXPECT_EQ(ask(session, Submit{poll.poll.pending, result("pushed"), "http", {}, {}, {}}),
              "applied");
    ASSERT_FALSE(effects.stopped.empty());
    EXPECT_EQ(effects.stopped.back(), poll.id);
    answer(Done{quoted("polled"), {}, {}});
    EXPECT_EQ(stored(session).turn->request->attempt, 1U) << "the model was asked once";
}

TEST_F(Polling, Deadline_PollDoesNotAnswer_Expires) {
    loop.advance(every + 2'000 * one_ms);
    ASSERT_EQ(effects.polled.size(), 1U);
    loop.advance(limits::pause_timeout_default);
    EXPECT_TRUE(stored(session).calls.empty()) << "expired";
    EXPECT_EQ(effects.polled.size(), 1U) << "not asked twice";
}

// A session whose gate finds the queue of the threads full.
TEST_F(RunnerTest, GateThatHasNotBegun_IsAskedAtEachScanAndNotDenied) {
    SessionId const session = new_session();
    runner->start();
    (void)ask(session, prompt("please"));
    effects.reply({gated(plain())});
    effects.until = Time::max();  // it is unlimited while it waits
    loop.run();
    for (int second = 0; second < 70; ++second) {
        ASSERT_EQ(effects.gated.size(), 1U) << second;
        effects.gated.clear();
        State const now = stored(session);
        runner->not_begun(session, outstanding(now).begin()->first);
        loop.advance(1'000 * one_ms);
    }
    ASSERT_EQ(effects.gated.size(), 1U);
    auto one = std::move(effects.gated.back());
    one.done(GateOutcome{one.ask.call, one.ask.gate, GateOutcome::Allow{}});
    loop.run();
    EXPECT_EQ(effects.ran.size(), 1U);
}

// A session whose gate waits for a thread.
TEST_F(RunnerTest, GateInTheQueue_IsNotDeniedBeforeItHadItsTime) {
    SessionId const session = new_session();
    runner->start();
    (void)ask(session, prompt("please"));
    effects.reply({gated(plain())});
    loop.run();
    effects.until = Time::max();
    auto const commits = journal.commits.size();
    loop.advance(3 * limits::gate_time_limit);
    EXPECT_EQ(stored(session).calls.size(), 1U);
    EXPECT_EQ(journal.commits.size(), commits) << "nothing is written while it waits";
    effects.until = clock.now() + limits::gate_time_limit;  // a thread takes it
    loop.advance(limits::gate_time_limit - 2'000 * one_ms);
    EXPECT_EQ(stored(session).calls.size(), 1U);
    loop.advance(4'000 * one_ms);
    EXPECT_TRUE(stored(session).calls.empty()) << "denied: it took too long";
    EXPECT_EQ(effects.starts, 3) << "the model, the gate, and the model again";
}

// A session whose tool finds the queue of the threads full.
TEST_F(RunnerTest, ToolThatHasNotBegun_IsStartedAtEachScanWithinItsTimeLimit) {
    SessionId const session = new_session();
    runner->start();
    (void)ask(session, prompt("please"));
    effects.reply({plain()});
    loop.run();
    for (int second = 0; second < 70; ++second) {
        ASSERT_EQ(effects.ran.size(), 1U) << second;
        auto const refused = std::move(effects.ran.back());
        effects.ran.clear();
        EXPECT_EQ(refused.run.attempt, 1U);
        runner->not_begun(session, refused.id);
        loop.advance(1'000 * one_ms);
    }
    ASSERT_EQ(effects.ran.size(), 1U);
    effects.ran.clear();
    loop.advance(stored(session).calls.begin()->second.spec.terms.time_limit);
    EXPECT_TRUE(stored(session).calls.empty()) << "its time limit counts from its start";
}

// The next process tries it again without a doubt.
TEST_F(RunnerTest, ToolThatHasNotBegun_DrainEndsItsAttempt) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    effects.reply({with_policy(plain(), CrashPolicy::never)});
    loop.run();
    runner->not_begun(session, effects.ran.back().id);
    runner->drain([] {});
    loop.run();
    EXPECT_EQ(stored(session).calls.begin()->second.phase, CallPhase::retry_wait);
}

TEST_F(RunnerTest, ToolThatFindsNoThreadDuringADrain_AttemptEnds) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    effects.reply({with_policy(plain(), CrashPolicy::never)});
    loop.run();
    runner->drain([] {});
    runner->not_begun(session, effects.ran.back().id);
    loop.run();
    EXPECT_EQ(stored(session).calls.begin()->second.phase, CallPhase::retry_wait);
}

// A session with a call that waits for a gate that is not configured.
class Held : public RunnerTest {
protected:
    Held() {
        effects.missing_gates = {"approve"};
        session = new_session();
        (void)ask(session, prompt("please"));
        effects.reply({gated(plain())});
        loop.run();
        auto one = std::move(effects.gated.back());
        effects.gated.pop_back();
        one.done(GateOutcome{one.ask.call, one.ask.gate, GateOutcome::Gone{}});
        loop.run();
    }
    SessionId session;
};

TEST_F(Held, Resident_NeedsNoCommitAndNoRead) {
    runner->start();
    auto const commits = journal.commits.size();
    auto const reads = journal.reads;
    loop.advance(100'000 * one_ms);
    EXPECT_EQ(journal.commits.size(), commits);
    EXPECT_EQ(journal.reads - reads, 210)
        << "only the scan's reads of sessions and messages, and of raises each tenth time";
    EXPECT_TRUE(effects.gated.empty());
    ASSERT_EQ(runner->awaiting_gate(10).size(), 1U);
    EXPECT_EQ(runner->awaiting_gate(10).front(),
              (std::pair<SessionId, std::string>(session, "approve")));
}

// Such sessions are unloaded like others; the scan, which finds them every second, skips them.
TEST_F(Held, Unloaded_IsNotReadAgain) {
    (void)new_session();
    restart(1);
    runner->start();
    loop.advance(2'000 * one_ms);
    SessionId const other = new_session();
    EXPECT_EQ(ask(other, Tick{}), "applied");
    EXPECT_EQ(runner->resident(), 1U);
    ASSERT_EQ(runner->awaiting_gate(10).size(), 1U);
    EXPECT_EQ(runner->awaiting_gate(10).front(),
              (std::pair<SessionId, std::string>(session, "approve")));
    auto const reads = journal.reads;
    auto const commits = journal.commits.size();
    loop.advance(100'000 * one_ms);
    EXPECT_EQ(journal.reads - reads, 210)
        << "only the scan's reads of sessions and messages, and of raises each tenth time";
    EXPECT_EQ(journal.commits.size(), commits);
    EXPECT_EQ(runner->resident(), 0U) << "the other one has been idle for resident_time, too";
    // It still answers requests, and can be cancelled.
    Cancel cancel;
    EXPECT_EQ(ask(session, cancel), "applied");
    EXPECT_TRUE(stored(session).calls.empty());
    EXPECT_TRUE(runner->awaiting_gate(10).empty());
}

// Other timers of the session still fire, loaded or not: here another call's deadline.
TEST_F(Held, Unloaded_ItsDeadlinesAreMet) {
    SessionId const both = new_session();
    (void)ask(both, prompt("please"));
    effects.reply({gated(plain()), job()});
    loop.run();
    auto one = std::move(effects.gated.back());
    effects.gated.pop_back();
    one.done(GateOutcome{one.ask.call, one.ask.gate, GateOutcome::Gone{}});
    loop.run();
    PauseTerms pause;
    pause.timeout = 50'000 * one_ms;
    effects.finish(pause);
    loop.run();
    ASSERT_EQ(stored(both).calls.size(), 2U);
    restart(1);
    runner->start();
    loop.advance(2'000 * one_ms);
    SessionId const other = new_session();
    EXPECT_EQ(ask(other, Tick{}), "applied");
    EXPECT_EQ(runner->resident(), 1U);
    EXPECT_EQ(runner->awaiting_gate(10).size(), 2U);
    loop.advance(60'000 * one_ms);
    EXPECT_EQ(stored(both).calls.size(), 1U) << "expired";
    EXPECT_EQ(runner->awaiting_gate(10).size(), 2U);
}

TEST_F(Held, NextProcess_WithTheGate_Continues) {
    restart();
    runner->start();
    loop.advance(2'000 * one_ms);
    EXPECT_EQ(runner->awaiting_gate(10).size(), 1U) << "it is still missing";
    EXPECT_TRUE(effects.gated.empty());
    effects.missing_gates.clear();
    restart();
    runner->start();
    loop.advance(2'000 * one_ms);
    EXPECT_TRUE(runner->awaiting_gate(10).empty());
    EXPECT_EQ(effects.gated.size(), 1U) << "asked again without a request";
}

TEST_F(Queued, QueuedRequest_IsNotGivenUp) {
    SessionId const session = new_session();
    runner->start();
    (void)ask(session, prompt("please"));
    effects.until = Time::max();
    auto const commits = journal.commits.size();
    loop.advance(3 * limits::model_time_limit);
    EXPECT_EQ(journal.commits.size(), commits) << "nor is anything written for it";
    EXPECT_EQ(stored(session).turn->failures, 0U);
    effects.until = clock.now() + limits::model_time_limit;  // the request is sent
    loop.advance(limits::model_time_limit - 2'000 * one_ms);
    EXPECT_EQ(stored(session).turn->failures, 0U);
    loop.advance(4'000 * one_ms);
    EXPECT_EQ(stored(session).turn->failures, 1U);
}

}  // namespace
}  // namespace dormouse::runner
