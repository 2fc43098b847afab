#include "runner/lane/lane.h"

#include "runner/repair/verify.h"
#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"

namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using LaneTest = testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;
using LaneOutput = LaneTest;
using Forgetting = LaneTest;
using ClosedThings = LaneTest;
using Strings = std::vector<std::string>;
using testing::Fault;

TEST_F(LaneOutput, Output_LeavesOnlyWhenDurable) {
    (void)create();
    host.store.hold = true;
    tell(prompt("hello"));
    host.loop.run();
    EXPECT_EQ(answers, Strings{"applied"});  // the answer to create
    EXPECT_TRUE(host.work.requests.empty());
    EXPECT_TRUE(host.lane->recent().size() == 1);
    host.store.release();
    EXPECT_EQ(answers, (Strings{"applied", "applied"}));
    EXPECT_EQ(host.work.requests.size(), 1U);
    EXPECT_EQ(host.lane->recent().back()->event.seq, stored_head());
}

TEST_F(LaneOutput, WaitingCommands_AreDecidedIntoOneAppend) {
    (void)create();
    host.store.hold = true;
    tell(prompt("first"));
    host.loop.run();
    for (int i = 0; i < 100; ++i) tell(prompt("more"));
    tell(prompt("too many"));
    host.loop.run();
    EXPECT_EQ(host.store.held(), 1U);
    host.store.release();
    host.store.release();
    EXPECT_EQ(host.store.commits, (std::vector<std::size_t>{1, 1, 1}));
    ASSERT_EQ(answers.size(), 103U);
    EXPECT_EQ(answers.back(), "queue_full");
    EXPECT_EQ(std::ranges::count(answers, "applied"), 102);
    EXPECT_EQ(host.store.sent.back().frame.count, 100U);
}

TEST_F(LaneOutput, Refusal_WaitsForTheAppendItDependsOn) {
    (void)create();
    host.store.hold = true;
    tell(prompt("hello"));
    tell(prompt("me too", PromptMode::reject));
    host.loop.run();
    EXPECT_EQ(answers, Strings{"applied"});
    host.store.release();
    EXPECT_EQ(answers, (Strings{"applied", "applied", "session_busy"}));
}

TEST_F(LaneOutput, Refusal_FailsWithTheAppendItDependsOn) {
    (void)create();
    host.store.hold = true;
    tell(Change{"a title", {}, {}, {}});
    tell(prompt("hello"));
    tell(prompt("me too", PromptMode::reject));
    host.loop.run();
    host.store.release();  // commits the title
    host.store.fault = Fault::lost;
    host.store.release();  // commits the prompt, and the refusal that depends on it
    EXPECT_EQ(answers, (Strings{"applied", "applied", "store_unavailable", "store_unavailable"}));
    host.store.hold = false;
    EXPECT_EQ(ask(prompt("me too", PromptMode::reject)), "applied");
}

TEST_F(LaneOutput, Read_SeesOnlyDurableState) {
    (void)create();
    host.store.hold = true;
    tell(prompt("hello"));
    Seq seen = 0;
    host.lane->read([&](Result<Lane const*> lane) { seen = lane ? (*lane)->state().head : 0; });
    host.loop.run();
    EXPECT_EQ(seen, 0U);
    host.store.release();
    EXPECT_GT(seen, 1U);
    EXPECT_EQ(seen, stored_head());
}

TEST_F(LaneOutput, UnknownSession_IsNotFound) {
    reopen();
    EXPECT_EQ(ask(prompt("hello")), "not_found");
    bool found = true;
    host.lane->read([&](Result<Lane const*> lane) { found = lane.has_value(); });
    host.loop.run();
    EXPECT_FALSE(found);
    EXPECT_TRUE(host.store.commits.empty());
}

TEST_F(LaneOutput, FullInbox_AnswersOverloadedAtOnce) {
    (void)create();
    host.store.hold = true;
    tell(prompt("hello"));
    for (int i = 0; i < 10'000; ++i) tell(Tick{});
    ASSERT_EQ(answers.size(), 1U);
    tell(Tick{});
    EXPECT_EQ(answers.back(), "overloaded");
}

TEST_F(LaneOutput, Effects_StartOnceAndStopWhenNotOutstanding) {
    (void)create();
    (void)ask(prompt("hello"));
    EXPECT_EQ(host.work.starts, 1);
    (void)ask(Tick{});
    EXPECT_EQ(host.work.starts, 1);
    EXPECT_EQ(host.lane->effects_running(), 1U);
    EXPECT_FALSE(host.lane->may_sleep());
    (void)ask(Cancel{Cancel::Scope::turn, {}});
    EXPECT_EQ(host.work.stopped.size(), 1U);
    EXPECT_TRUE(host.lane->may_sleep());
    EXPECT_GT(host.rests, 0);
}

TEST_F(LaneOutput, Watchers_SeeEveryAppendUntilUnwatched) {
    (void)create();
    int received = 0;
    auto const watch = host.lane->watch([&] { ++received; });
    EXPECT_FALSE(host.lane->may_sleep());
    (void)ask(Change{"a", {}, {}, {}});
    EXPECT_EQ(received, 1);
    host.store.fault = Fault::lost;
    (void)ask(Change{"b", {}, {}, {}});
    EXPECT_EQ(received, 1);
    host.lane->unwatch(watch);
    (void)ask(Change{"c", {}, {}, {}});
    EXPECT_EQ(received, 1);
    EXPECT_TRUE(host.lane->may_sleep());
}

TEST_F(LaneOutput, Draining_StartsNoEffects) {
    (void)create();
    (void)ask(prompt("hello"));
    ASSERT_EQ(host.lane->effects_running(), 1U);
    host.drains = true;
    host.work.reply({job()});
    host.loop.run();
    EXPECT_TRUE(host.work.ran.empty());
    EXPECT_EQ(host.lane->effects_running(), 0U);
    EXPECT_EQ(stored().calls.at(1).phase, CallPhase::ready) << "the next process starts it";
    EXPECT_EQ(session::wake_at(stored()), from_ms(0));
}

TEST_F(LaneOutput, DrainBeginsDuringAnAppend_ItsToolStarts) {
    (void)create();
    (void)ask(prompt("hello"));
    host.store.hold = true;
    host.work.reply({job()});
    host.loop.run();
    ASSERT_EQ(host.store.held(), 1U);
    host.drains = true;
    host.store.hold = false;
    host.store.release();
    host.loop.run();
    EXPECT_EQ(host.work.ran.size(), 1U) << "its intent is stored";
    EXPECT_EQ(stored().calls.at(1).phase, CallPhase::running);
}

TEST_F(LaneOutput, RunOfAnEarlierProcess_IsNotStartedWhileDraining) {
    (void)create();
    (void)ask(prompt("hello"));
    host.work.reply({job()});
    host.loop.run();
    ASSERT_EQ(host.work.ran.size(), 1U);
    restart();
    host.drains = true;
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(host.work.ran.size(), 1U);
    EXPECT_EQ(stored().calls.at(1).in_doubt, false) << "left to the next process";
    host.drains = false;
    reopen();
    (void)ask(Tick{});
    EXPECT_EQ(stored().calls.at(1).in_doubt, true);
}

// The look-up of another command is under way when the drain begins.
TEST_F(LaneOutput, DrainBeginsBeforeTheAdoption_NothingStartsAgain) {
    PendingId const pending = waiting_call();
    (void)ask(submit(pending, result("1")));
    host.work.reply({with_policy(plain(), CrashPolicy::retry)});
    host.loop.run();
    std::size_t const ran = host.work.ran.size();
    restart();
    int reads = 0;
    host.store.before_read = [&] { host.drains = ++reads == 2; };  // the session, the receipt
    EXPECT_EQ(ask(submit(pending, result("1"))), "duplicate");
    EXPECT_EQ(reads, 2);
    host.store.before_read = {};
    EXPECT_EQ(host.work.ran.size(), ran);
    EXPECT_EQ(stored().calls.rbegin()->second.attempt, 1U);
}

TEST_F(Forgetting, FailedAppend_LeavesNothingInMemory) {
    (void)create();
    host.store.fault = Fault::lost;
    EXPECT_EQ(ask(Change{"lost", {}, {}, {}}), "store_unavailable");
    EXPECT_FALSE(host.lane->loaded());
    EXPECT_EQ(ask(prompt("hello")), "applied");
    EXPECT_EQ(host.lane->state().title, "");
    EXPECT_EQ(host.lane->state().head, stored_head());
}

TEST_F(Forgetting, FailedAppendThatWasDurable_IsFound) {
    (void)create();
    host.store.fault = Fault::hidden;
    EXPECT_EQ(ask(prompt("hello"), "key"), "store_unavailable");
    Seq const head = stored_head();
    EXPECT_EQ(ask(prompt("hello"), "key"), "duplicate");
    EXPECT_EQ(stored_head(), head);
    EXPECT_EQ(host.work.requests.size(), 1U);  // its outstanding effect has started
}

TEST_F(Forgetting, RunningEffect_AfterAFailure_IsAccepted) {
    (void)create();
    (void)ask(prompt("hello"));
    host.store.fault = Fault::lost;
    (void)ask(Change{"lost", {}, {}, {}});
    (void)ask(Tick{});
    EXPECT_EQ(host.work.starts, 1);  // loaded again, but not started twice
    host.work.reply();
    host.loop.run();
    EXPECT_FALSE(stored().turn);
}

TEST_F(Forgetting, Outcome_IsOfferedUntilItIsStored) {
    (void)create();
    (void)ask(prompt("hello"));
    host.store.fault = Fault::lost;
    host.work.reply();
    host.loop.run();
    EXPECT_TRUE(stored().turn);
    EXPECT_EQ(host.offered_later, 1);
    host.store.fault = Fault::hidden;
    host.loop.advance(Duration(1'000));
    EXPECT_EQ(host.offered_later, 2);
    host.loop.advance(Duration(1'000));
    EXPECT_EQ(host.offered_later, 2);
    EXPECT_FALSE(stored().turn);
    EXPECT_EQ(stored().steps, 1U);  // committed once
}

TEST_F(Forgetting, NewOwner_SettlesDoubtsFirst) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({with_policy(plain(), CrashPolicy::retry)});
    host.loop.run();
    ASSERT_EQ(host.work.ran.size(), 1U);
    PendingId const pending = host.work.ran.back().run.pending;
    restart();
    (void)ask(Tick{});
    ASSERT_EQ(host.work.ran.size(), 2U);
    EXPECT_EQ(host.work.ran.back().run.pending, pending);  // the same idempotency key
    EXPECT_EQ(host.work.ran.back().run.attempt, 2U);
    EXPECT_EQ(stored().calls.at(1).epoch, 2U);
}

TEST_F(ClosedThings, RepeatsAndConflictsInOneBatch_FindTheReceipt) {
    PendingId const pending = waiting_call();
    answers.clear();
    host.store.hold = true;
    tell(Change{"shuts the lane", {}, {}, {}});
    tell(submit(pending, result("first")));
    tell(submit(pending, result("first")));
    tell(submit(pending, result("second")));
    tell(submit(pending, result("second")));
    tell(submit(pending, result("third")));
    host.loop.run();
    host.store.hold = false;
    host.store.release();
    EXPECT_EQ(answers,
              (Strings{"applied", "applied", "duplicate", "conflict", "conflict", "conflict"}));
    auto const report = verify(*host.store.store, [](std::uint64_t) {});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->findings.empty());
    int notes = 0;
    for (wire::RecordPtr const& one : host.lane->recent()) {
        notes += std::holds_alternative<Note>(one->event.body) ? 1 : 0;
    }
    EXPECT_EQ(notes, 2);  // once for each payload
}

TEST_F(ClosedThings, AfterUnloading_AreFoundByKey) {
    PendingId const pending = waiting_call();
    ASSERT_EQ(ask(submit(pending, result("first"))), "applied");
    Receipt const receipt = *last.receipt;
    ASSERT_EQ(ask(submit(pending, result("second"))), "conflict");
    Seq const head = stored_head();
    reopen();
    EXPECT_EQ(ask(submit(pending, result("first"))), "duplicate");
    EXPECT_EQ(last.receipt, receipt);
    EXPECT_EQ(ask(submit(pending, result("second"))), "conflict");
    EXPECT_EQ(stored_head(), head);  // the note already existed
    restart();
    EXPECT_EQ(ask(submit(pending, result("first"))), "duplicate");
    EXPECT_EQ(last.receipt, receipt);
}

TEST_F(ClosedThings, PromptWithAKey_IsAcceptedOnce) {
    (void)create();
    host.store.hold = true;
    tell(Change{"shuts the lane", {}, {}, {}});
    tell(prompt("hello"), "key");
    tell(prompt("hello"), "key");
    tell(prompt("other"), "key", "another body");
    host.loop.run();
    host.store.hold = false;
    host.store.release();
    EXPECT_EQ(answers,
              (Strings{"applied", "applied", "applied", "duplicate", "idempotency_mismatch"}));
    Seq const message = last.seq;
    reopen();
    EXPECT_EQ(ask(prompt("hello"), "key"), "duplicate");
    EXPECT_EQ(last.seq, message);
    EXPECT_EQ(stored().messages, 1U);
}

TEST_F(ClosedThings, ProgressWithAKey_IsAcceptedOnce) {
    PendingId const pending = waiting_call();
    EXPECT_EQ(ask(Progress{pending, Json::trusted("1"), "50"}), "applied");
    EXPECT_EQ(ask(Progress{pending, Json::trusted("1"), "50"}), "duplicate");
    reopen();
    EXPECT_EQ(ask(Progress{pending, Json::trusted("1"), "50"}), "duplicate");
    EXPECT_EQ(stored().calls.at(1).progress_count, 1U);
}

// An append has a largest size. Commands that did not fit look up closed things again.
TEST_F(ClosedThings, FullAppend_LooksUpTheRestAgain) {
    PendingId const pending = waiting_call();
    ASSERT_EQ(ask(submit(pending, result("first"))), "applied");
    host.work.reply();
    host.loop.run();
    answers.clear();
    host.store.hold = true;
    tell(Change{"shuts the lane", {}, {}, {}});
    tell(submit(pending, result("second")));
    for (int i = 0; i < 5; ++i) tell(prompt(std::string(1'000'000, 'x')));
    tell(submit(pending, result("third")));
    host.loop.run();
    host.store.hold = false;
    host.store.release();
    EXPECT_EQ(answers.back(), "conflict");
    EXPECT_EQ(std::ranges::count(answers, "applied"), 6);
    EXPECT_TRUE(host.lane->loaded());  // the store accepted every append
    auto const notes =
        std::ranges::count_if(host.store.disk->sessions.at(1).keys,
                              [](auto const& key) { return key.first.starts_with('N'); });
    EXPECT_EQ(notes, 2);
}

}  // namespace
}  // namespace dormouse::runner
