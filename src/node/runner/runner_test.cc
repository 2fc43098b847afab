#include "runner/runner.h"

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using RunnerTest =
    testing::RunnerTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;
using Creating = RunnerTest;
using Waking = RunnerTest;
using Resident = RunnerTest;
using Draining = RunnerTest;
using Failing = RunnerTest;
using Strings = std::vector<std::string>;
using testing::Fault;
constexpr Duration ms{1};

TEST_F(Creating, RequestsWithoutAKey_MakeSeparateSessions) {
    SessionId const first = new_session();
    SessionId const second = new_session();
    EXPECT_EQ(first.number(), 1U);
    EXPECT_EQ(second.number(), 2U);
    restart();
    EXPECT_EQ(new_session().number(), 3U);
}

TEST_F(Creating, RacingRequestsWithOneKey_MakeOneSession) {
    journal.hold = true;
    ask_for_session(demo(), ann("key"));
    ask_for_session(demo(), ann("key"));
    loop.run();
    ask_for_session(demo(), ann("key"));
    loop.run();
    EXPECT_TRUE(answers.empty());
    journal.hold = false;
    journal.release();
    EXPECT_EQ(answers, (Strings{"applied", "duplicate", "duplicate"}));
    ASSERT_EQ(created.size(), 3U);
    EXPECT_EQ(created[0], created[1]);
    EXPECT_EQ(created[0], created[2]);
    EXPECT_EQ(journal.disk->sessions.size(), 1U);
}

TEST_F(Creating, Key_AfterARestart_FindsItsSession) {
    ask_for_session(demo(), ann("key"));
    loop.run();
    restart();
    ask_for_session(demo(), ann("key"));
    ask_for_session(demo(), ann("key", "another body"));
    loop.run();
    EXPECT_EQ(answers, (Strings{"applied", "duplicate", "idempotency_mismatch"}));
    EXPECT_EQ(created[0], created[1]);
}

TEST_F(Creating, SameKey_OtherProject_MakesAnotherSession) {
    ask_for_session(demo("one"), ann("key"));
    ask_for_session(demo("two"), ann("key"));
    loop.run();
    EXPECT_EQ(answers, (Strings{"applied", "applied"}));
    EXPECT_NE(created[0], created[1]);
}

TEST_F(Creating, KeyOfADeletedSession_AnswersSessionGone) {
    ask_for_session(demo(), ann("key"));
    loop.run();
    EXPECT_EQ(ask(created[0], Delete{}), "applied");
    ask_for_session(demo(), ann("key"));
    loop.run();
    EXPECT_EQ(answers.back(), "session_gone");
    restart();
    ask_for_session(demo(), ann("key"));
    loop.run();
    EXPECT_EQ(answers.back(), "session_gone");
    EXPECT_EQ(ask(created[0], prompt("hello")), "not_found");
}

TEST_F(Creating, RequestThatTheStoreLost_CanBeRepeated) {
    for (Fault const fault : {Fault::lost, Fault::hidden}) {
        std::string const key = fault == Fault::lost ? "lost" : "hidden";
        journal.fault = fault;
        ask_for_session(demo(), ann(key));
        loop.run();
        EXPECT_EQ(answers.back(), "store_unavailable");
        ask_for_session(demo(), ann(key));
        loop.run();
        EXPECT_EQ(answers.back(), fault == Fault::lost ? "applied" : "duplicate");
    }
    EXPECT_EQ(journal.disk->sessions.size(), 2U);
}

TEST_F(Waking, OutstandingWork_AfterARestart_IsDone) {
    std::vector<SessionId> sessions;
    for (int i = 0; i < 300; ++i) {  // more than a page of the scan
        sessions.push_back(new_session());
        (void)ask(sessions.back(), prompt("hello"));
    }
    (void)new_session();  // has no outstanding work
    restart();
    EXPECT_EQ(effects.starts, 0);
    EXPECT_FALSE(runner->recovered());
    runner->start();
    loop.run();
    EXPECT_TRUE(runner->recovered());
    EXPECT_EQ(effects.requests.size(), sessions.size());
    loop.advance(Duration(5'000));
    EXPECT_EQ(effects.requests.size(), sessions.size());  // started once
}

TEST_F(Waking, Deadline_IsMetToTheMillisecond) {
    runner->start();
    loop.run();
    SessionId const session = waiting_session(Duration(1'234));
    loop.advance(Duration(1'233));
    EXPECT_EQ(stored(session).calls.size(), 1U);
    loop.advance(ms);
    EXPECT_TRUE(stored(session).calls.empty());
    EXPECT_EQ(effects.requests.size(), 1U);  // and the model is asked
}

TEST_F(Waking, DistantDeadline_IsMet) {
    runner->start();
    loop.run();
    SessionId const session = waiting_session(Duration(3'600'500));
    loop.advance(Duration(3'600'499));
    EXPECT_EQ(stored(session).calls.size(), 1U);
    loop.advance(ms);
    EXPECT_TRUE(stored(session).calls.empty());
}

TEST_F(Waking, UnloadedSession_IsWokenByTheScan) {
    SessionId const session = waiting_session(Duration(10'250));
    restart();
    runner->start();
    loop.run();
    EXPECT_EQ(runner->resident(), 0U);
    loop.advance(Duration(10'249));
    EXPECT_EQ(stored(session).calls.size(), 1U);
    loop.advance(ms);
    EXPECT_TRUE(stored(session).calls.empty());
}

TEST_F(Waking, WaitingSession_NeedsNoCommitAndNoLane) {
    (void)waiting_session(Duration(24 * 3'600'000LL));
    restart();
    runner->start();
    loop.advance(Duration(60'000));
    EXPECT_EQ(runner->resident(), 0U);
    std::size_t const commits = journal.commits.size();
    loop.advance(Duration(600'000));
    EXPECT_EQ(journal.commits.size(), commits);
}

TEST_F(Waking, ClockJumpAhead_ExpiresNothingForAMinute) {
    runner->start();
    loop.run();
    SessionId const session = waiting_session(Duration(1'800'000));
    clock.step = Duration(3'600'000);
    loop.advance(Duration(59'000));
    EXPECT_TRUE(runner->clock().holding());
    EXPECT_EQ(stored(session).calls.size(), 1U);
    loop.advance(Duration(5'000));
    EXPECT_TRUE(stored(session).calls.empty());
}

TEST_F(Waking, FailedAppend_IsRetriedByTheScan) {
    runner->start();
    SessionId const session = waiting_session(Duration(1'500));
    journal.fault = Fault::lost;
    loop.advance(Duration(1'600));
    EXPECT_EQ(stored(session).calls.size(), 1U);
    loop.advance(Duration(2'000));
    EXPECT_TRUE(stored(session).calls.empty());
}

TEST_F(Resident, LongestIdleLane_IsUnloaded) {
    open(2);
    SessionId const a = new_session();
    SessionId const b = new_session();
    (void)ask(a, Change{"again", {}, {}, {}});
    (void)new_session();
    int const reads = journal.reads;
    (void)ask(a, Change{"still here", {}, {}, {}});
    EXPECT_EQ(journal.reads, reads);
    EXPECT_EQ(ask(b, Change{"comes back", {}, {}, {}}), "applied");
    EXPECT_EQ(journal.reads, reads + 1);
    EXPECT_LE(runner->resident(), 3U);
    EXPECT_EQ(stored(b).title, "comes back");
}

TEST_F(Resident, BusyLanes_StayLoaded) {
    open(1);
    SessionId const busy = new_session();
    (void)ask(busy, prompt("hello"));
    for (int i = 0; i < 10; ++i) (void)new_session();
    EXPECT_LE(runner->resident(), 3U);
    effects.reply();
    loop.run();
    EXPECT_FALSE(stored(busy).turn);
    EXPECT_EQ(effects.starts, 1);
}

TEST_F(Resident, LaneThatAReaderHolds_IsNotDuplicated) {
    open(1);
    SessionId const session = new_session();
    for (int i = 0; i < 300; ++i) (void)ask(session, Change{"t" + std::to_string(i), {}, {}, {}});
    open(1);  // loaded from a snapshot: the beginning must be read
    std::shared_ptr<Lane> held;
    std::shared_ptr<Lane> now;
    runner->read(session, 1, [&](Result<Runner::Read> read) {
        ASSERT_TRUE(read);
        EXPECT_EQ(read->records.size(), 301U);
        held = read->lane;
    });
    for (int i = 0; i < 5; ++i) ask_for_session(demo(), ann());
    loop.run();
    for (int i = 0; i < 5; ++i) (void)new_session();
    runner->read_lane(session,
                      [&](Result<std::shared_ptr<Lane>> lane) { now = lane.value_or(nullptr); });
    loop.run();
    EXPECT_EQ(held, now);
    held.reset();
    now.reset();
    for (int i = 0; i < 5; ++i) (void)new_session();
    EXPECT_LE(runner->resident(), 3U);
}

TEST_F(Resident, SessionsBeyondTheBytes_AreReleasedLongestIdleFirst) {
    resident_bytes = 1'000'000;
    open();
    std::vector<SessionId> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(new_session());
        (void)ask(all.back(), prompt(std::string(100'000, 'x')));
        effects.reply();
        loop.run();
    }
    EXPECT_LE(runner->resident_bytes(), 1'000'000U);
    EXPECT_GE(runner->resident_bytes(), 500'000U);
    EXPECT_LT(runner->resident(), 6U);
    int const reads = journal.reads;
    (void)ask(all.back(), Change{"resident", {}, {}, {}});
    EXPECT_EQ(journal.reads, reads);
    (void)ask(all.front(), Change{"read again", {}, {}, {}});
    EXPECT_GT(journal.reads, reads);
    EXPECT_EQ(stored(all.front()).title, "read again");
}

TEST_F(Resident, SessionIdleForResidentTime_IsReleasedAndReadAgain) {
    runner->start();
    SessionId const slept = new_session();
    loop.advance(Duration(6'000));
    SessionId const used = new_session();
    loop.advance(Duration(5'000));
    EXPECT_EQ(runner->resident(), 1U);  // `used`
    EXPECT_GT(runner->resident_bytes(), 0U);
    EXPECT_EQ(ask(slept, Change{"woken", {}, {}, {}}), "applied");
    EXPECT_EQ(runner->resident(), 2U);
    loop.advance(Duration(11'000));
    EXPECT_EQ(runner->resident(), 0U);
    EXPECT_EQ(runner->resident_bytes(), 0U);
    EXPECT_EQ(ask(used, Change{"woken too", {}, {}, {}}), "applied");
}

TEST_F(Resident, ManyOldSessions_AreAllReleased) {
    runner->start();
    for (int i = 0; i < 600; ++i) (void)new_session();
    EXPECT_EQ(runner->resident(), 600U);
    loop.advance(Duration(12'000));
    EXPECT_EQ(runner->resident(), 0U);
}

TEST_F(Resident, OldSessionThatAReaderHolds_StaysUntilItIsReleased) {
    runner->start();
    SessionId const session = new_session();
    std::shared_ptr<Lane> held;
    runner->read_lane(session, [&held](Result<std::shared_ptr<Lane>> lane) { held = *lane; });
    loop.run();
    ASSERT_TRUE(held);
    loop.advance(Duration(25'000));
    EXPECT_EQ(runner->resident(), 1U);
    held.reset();
    loop.advance(Duration(12'000));
    EXPECT_EQ(runner->resident(), 0U);
}

TEST_F(Resident, DeletedOrUnknownSession_IsReleasedAtOnce) {
    for (int i = 0; i < 10; ++i) {
        SessionId const session = new_session();
        EXPECT_EQ(ask(session, Delete{}), "applied");
        EXPECT_EQ(ask(SessionId::make(1'000, {}), prompt("x")), "not_found");
        EXPECT_EQ(ask(session, prompt("x")), "not_found");
    }
    EXPECT_EQ(runner->resident(), 0U);
    EXPECT_EQ(runner->resident_bytes(), 0U);
}

TEST_F(Resident, Records_AreReadFromAnyPlace) {
    SessionId const session = new_session();
    for (int i = 0; i < 9; ++i) (void)ask(session, Change{"t" + std::to_string(i), {}, {}, {}});
    for (Seq const from : {Seq{0}, Seq{1}, Seq{7}, Seq{10}, Seq{11}}) {
        std::size_t count = 99;
        runner->read(session, from,
                     [&](Result<Runner::Read> const& read) { count = read->records.size(); });
        loop.run();
        EXPECT_EQ(count, from > 10 ? 0U : 11U - std::max<Seq>(from, 1));
    }
    bool found = true;
    runner->read(SessionId::make(77, {}), 1,
                 [&](Result<Runner::Read> read) { found = read.has_value(); });
    loop.run();
    EXPECT_FALSE(found);
}

// A page read from the journal and the lane's state are from the same moment, whatever happened
// meanwhile.
TEST_F(Resident, Read_RecordsAndState_AreFromOneMoment) {
    SessionId const session = new_session();
    for (int i = 0; i < 300; ++i) (void)ask(session, Change{"t" + std::to_string(i), {}, {}, {}});
    for (Fault const fault : {Fault::none, Fault::lost, Fault::hidden}) {
        open();
        int called = 0;
        runner->read(session, 1, [&](Result<Runner::Read> read) {
            ++called;
            if (!read) {  // the store failed meanwhile
                EXPECT_NE(fault, Fault::none);
                EXPECT_EQ(read.error().code, Code::store_unavailable);
                return;
            }
            ASSERT_TRUE(read->lane->loaded());
            EXPECT_EQ(read->records.back()->event.seq, read->lane->state().head);
            EXPECT_EQ(read->records.size(), read->lane->state().head);
            EXPECT_EQ(read->lane->state(), stored(session));
        });
        for (int i = 0; i < 3; ++i) {
            runner->command(session,
                            Change{"meanwhile " + std::to_string(to_ms(clock.now())), {}, {}, {}},
                            ann(), [](Result<Answer>) {});
            journal.fault = fault;
        }
        loop.advance(Duration(10));
        EXPECT_EQ(called, 1);
    }
}

TEST_F(Draining, Draining_RefusesCommandsAndEndsWithTheEffects) {
    SessionId const session = new_session();
    (void)ask(session, prompt("hello"));
    bool drained = false;
    runner->drain([&] { drained = true; });
    EXPECT_EQ(ask(session, prompt("more")), "draining");
    ask_for_session(demo(), ann());
    EXPECT_EQ(answers.back(), "draining");
    loop.advance(Duration(1'000));
    EXPECT_FALSE(drained);
    effects.reply({job()});
    loop.advance(Duration(100));
    EXPECT_TRUE(drained);
    EXPECT_TRUE(effects.ran.empty());
    EXPECT_EQ(stored(session).steps, 1U);
    restart();
    runner->start();
    loop.run();
    EXPECT_EQ(stored(session).calls.at(1).in_doubt, false) << "it was not started";
    ASSERT_EQ(effects.ran.size(), 1U);
    EXPECT_EQ(effects.ran.back().run.attempt, 1U);
}

TEST_F(Draining, StalledTool_EndsAtTheLimit) {
    SessionId const session = new_session();
    (void)ask(session, prompt("hello"));
    bool drained = false;
    runner->drain([&] { drained = true; });
    loop.advance(Duration(4'900));
    EXPECT_FALSE(drained);
    loop.advance(Duration(200));
    EXPECT_TRUE(drained);
}

TEST_F(Failing, FailedSync_IsReportedOnceAndEndsTheScan) {
    int failures = 0;
    observer.on_failed = [&] { ++failures; };
    runner->start();
    SessionId const session = waiting_session(Duration(5'000));
    journal.fault = Fault::lost;
    journal.fault_code = Code::fail_stop;
    EXPECT_EQ(ask(session, Change{"lost", {}, {}, {}}), "fail_stop");
    journal.fault = Fault::lost;
    EXPECT_EQ(ask(session, Change{"lost", {}, {}, {}}), "fail_stop");
    EXPECT_EQ(failures, 1);
    EXPECT_TRUE(runner->failed());
    std::size_t const commits = journal.commits.size();
    loop.advance(Duration(20'000));
    EXPECT_EQ(journal.commits.size(), commits);
}

TEST_F(Failing, FailedSyncOfAnOutcome_IsReported) {
    int failures = 0;
    observer.on_failed = [&] { ++failures; };
    SessionId const session = new_session();
    (void)ask(session, prompt("hello"));
    journal.fault = Fault::lost;
    journal.fault_code = Code::fail_stop;
    effects.reply();
    loop.advance(Duration(10'000));
    EXPECT_EQ(failures, 1);
}

TEST_F(Waking, ProvisionalText_GoesToTheObserver) {
    Strings received;
    observer.on_delta = [&](SessionId, AskModel const& ask, port::Delta const& delta) {
        received.push_back(std::to_string(ask.step) + "." + std::to_string(ask.attempt) + " " +
                           delta.text);
    };
    (void)ask(new_session(), prompt("hello"));
    effects.requests.back().delta({port::Delta::Kind::text, "wel"});
    EXPECT_EQ(received, Strings{"1.1 wel"});
}

TEST_F(Waking, RunnerEnded_StoreAnswersLate_NobodyIsCalled) {
    journal.hold_reads = true;
    ask_for_session(demo(), ann(std::string(32, 'a')));
    ask_for_session(demo(), ann(std::string(32, 'a')));  // waits for the first
    Create named = demo();
    named.alias = "alice";
    ask_for_session(std::move(named), ann());
    runner->start();
    loop.run();
    runner.reset();
    journal.release_reads();
    loop.advance(Duration(10'000));
    EXPECT_TRUE(answers.empty());
    EXPECT_TRUE(journal.commits.empty());
}

TEST_F(Waking, RunnerEnded_StoreCommitsLate_NobodyIsCalled) {
    journal.hold = true;
    ask_for_session(demo(), ann());
    loop.run();
    ASSERT_EQ(journal.held(), 1U);
    runner.reset();
    journal.release();
    EXPECT_TRUE(answers.empty());
}

}  // namespace
}  // namespace dormouse::runner
