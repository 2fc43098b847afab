#include "runner/lane/lane.h"

#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"

// Tests a lane to whose session another process has appended.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;
using Journal = testing::TestJournal<store::MemoryStore, store::MemoryDisk, true>;
using Strings = std::vector<std::string>;

class MovedHead : public testing::LaneTestOn<Journal> {
protected:
    MovedHead() {
        elsewhere.store.disk = host.store.disk;
        elsewhere.store.reopen();
    }
    ~MovedHead() override { elsewhere.lane.reset(); }

    // The other process reads the session and appends the outcome of `body`.
    std::string ask_elsewhere(Command::Body body) {
        elsewhere.lane = std::make_shared<Lane>(id, elsewhere.services, false);
        Incoming incoming{{}, elsewhere.now(), elsewhere.entropy.random(), {}};
        incoming.command.by = {ActorType::token, "bob"};
        incoming.command.body = std::move(body);
        std::string out;
        elsewhere.lane->receive(std::move(incoming),
                                [&out](Result<Answer> const& answer) { out = answer_of(answer); });
        elsewhere.loop.run();
        return out;
    }
    [[nodiscard]] std::size_t count(std::string_view type) {
        std::size_t found = 0;
        auto const records = read_records(*host.store.store, id, 1, stored_head()).value();
        for (wire::RecordPtr const& record : records)
            found += type_name(record->event.body) == type;
        return found;
    }

    testing::TestHost<Journal> elsewhere;
};

TEST_F(MovedHead, Command_IsDecidedAgainOnWhatIsStored) {
    (void)create();
    ASSERT_EQ(ask_elsewhere(prompt("theirs")), "applied");
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(ask(prompt("me too", PromptMode::reject)), "session_busy");
    EXPECT_EQ(count("input_received"), 1U);
    EXPECT_EQ(count("session_changed"), 1U);
    EXPECT_EQ(host.lane->state(), stored());
    EXPECT_EQ(host.failures, 0);
}

TEST_F(MovedHead, AnswerWithoutAnAppend_RestsOnWhatIsStored) {
    (void)create();
    ASSERT_EQ(ask_elsewhere(prompt("theirs")), "applied");
    EXPECT_EQ(ask(prompt("me too", PromptMode::reject)), "session_busy");
    ASSERT_EQ(ask_elsewhere(Change{"a title", {}, {}, {}}), "applied");
    std::string title;
    host.lane->read([&](Result<Lane const*> at) { title = (*at)->state().title; });
    host.loop.run();
    EXPECT_EQ(title, "a title");
    ASSERT_EQ(ask_elsewhere(Delete{}), "applied");
    EXPECT_EQ(ask(prompt("hello")), "not_found");
}

TEST_F(MovedHead, StoreThatDoesNotAnswer_NothingLeaves) {
    (void)create();
    host.store.hold_reads = true;
    bool called = false;
    host.lane->read([&](Result<Lane const*> const&) { called = true; });
    host.loop.run();
    EXPECT_FALSE(called);
    host.store.release_reads();
    EXPECT_TRUE(called);
}

TEST(FreshnessTest, SessionsOfOneLoopTurn_AreOneQuery) {
    testing::TestLoop loop;
    Journal journal(loop);
    Freshness freshness(loop, journal, true);
    std::vector<bool> fresh;
    for (Seq const head : {0, 7, 0}) {
        freshness.compare(SessionId::make(head + 1, {}), {head, port::Stamp::none},
                          [&](Result<bool> result) { fresh.push_back(*result); });
    }
    EXPECT_TRUE(fresh.empty());
    loop.run();
    EXPECT_EQ(fresh, (std::vector{true, false, true}));
    EXPECT_EQ(journal.reads, 1);
    Freshness alone(loop, journal, false);
    alone.compare(SessionId::make(1, {}), {9, port::Stamp::none},
                  [&](Result<bool> result) { fresh.push_back(*result); });
    EXPECT_TRUE(fresh.back()) << "nobody else appends: memory is the truth, and nothing is read";
    EXPECT_EQ(journal.reads, 1);
}

TEST(FreshnessTest, SessionsDuringAQuery_AreTheNextOne) {
    testing::TestLoop loop;
    Journal journal(loop);
    Freshness freshness(loop, journal, true);
    int answered = 0;
    auto const compare = [&](std::uint64_t number) {
        freshness.compare(SessionId::make(number, {}), {}, [&](Result<bool> result) {
            EXPECT_TRUE(*result);
            ++answered;
        });
    };
    journal.hold_reads = true;
    compare(1);
    loop.run();
    for (std::uint64_t const number : {2U, 3U, 4U}) {
        compare(number);
        loop.run();
    }
    EXPECT_EQ(journal.reads, 1);
    EXPECT_EQ(answered, 0);
    journal.release_reads();
    EXPECT_EQ(answered, 4);
    EXPECT_EQ(journal.reads, 2) << "it began after the others had come";
}

TEST_F(MovedHead, ReadersAndWatchers_SeeWhatIsStored) {
    (void)create();
    host.store.hold = true;
    int woken = 0;
    auto const watcher = host.lane->watch([&] { ++woken; });
    tell(Change{"a title", {}, {}, {}});
    host.loop.run();
    ASSERT_EQ(ask_elsewhere(prompt("theirs")), "applied");
    Seq head = 0;
    host.lane->read([&](Result<Lane const*> at) { head = (*at)->state().head; });
    host.store.hold = false;
    host.store.release();
    EXPECT_EQ(head, stored_head());
    EXPECT_GE(woken, 1);
    host.lane->unwatch(watcher);
}

TEST_F(MovedHead, CallThatIsSettledElsewhere_HasOneOutcome) {
    PendingId const pending = waiting_call();
    ASSERT_EQ(ask_elsewhere(submit(pending, result("first"))), "applied");
    EXPECT_EQ(ask(submit(pending, result("first"))), "duplicate");
    EXPECT_EQ(ask(submit(pending, result("second"))), "conflict");
    EXPECT_EQ(count("submitted"), 1U);
}

TEST_F(MovedHead, OutcomeOfAnEffect_IsRecordedOnce) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({job()});
    host.loop.run();
    ASSERT_EQ(host.work.ran.size(), 1U);
    ASSERT_EQ(ask_elsewhere(Change{"a title", {}, {}, {}}), "applied");
    PauseTerms pause;
    pause.webhook_secret = "whsec_of_the_pause";
    host.work.finish(pause);
    host.loop.run();
    EXPECT_EQ(count("call_paused"), 1U);
    EXPECT_EQ(host.offered_later, 0);
    auto const& secrets = host.store.sent.back().secrets;
    ASSERT_EQ(secrets.size(), 1U);
    EXPECT_EQ(secrets[0].secret, "whsec_of_the_pause");
}

TEST_F(MovedHead, EightTimesMoved_IsDecidedAgainEachTime) {
    (void)create();
    host.store.hold = true;
    tell(Change{"mine", {}, {}, {}});
    host.loop.run();
    for (int i = 0; i < 8; ++i) {
        ASSERT_EQ(ask_elsewhere(Change{"theirs " + std::to_string(i), {}, {}, {}}), "applied");
        host.store.release();
    }
    EXPECT_EQ(answers, Strings{"applied"});
    host.store.release();
    EXPECT_EQ(answers, (Strings{"applied", "applied"}));
    EXPECT_EQ(stored().title, "mine");
}

TEST_F(MovedHead, OftenMoved_WaitsAndIsDecidedAgain) {
    (void)create();
    host.store.hold = true;
    tell(Change{"mine", {}, {}, {}});
    host.loop.run();
    for (int i = 0; i < 64; ++i) {
        ASSERT_EQ(ask_elsewhere(Change{"theirs " + std::to_string(i), {}, {}, {}}), "applied");
        ASSERT_EQ(host.store.held(), 1U) << i;
        host.store.release();
        if (i >= 8) {
            EXPECT_EQ(host.store.held(), 0U) << "it leaves the others time";
        }
        host.loop.advance(Duration(32));
    }
    EXPECT_EQ(answers, Strings{"applied"});
    host.store.release();
    EXPECT_EQ(answers, (Strings{"applied", "applied"}));
    EXPECT_EQ(stored().title, "mine");
}

TEST_F(MovedHead, OthersAppendAllTheTime_LeavesThemTimeBetweenItsAppends) {
    (void)create();
    host.store.hold = true;
    tell(Change{"one", {}, {}, {}});
    host.loop.run();
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(ask_elsewhere(Change{"theirs " + std::to_string(i), {}, {}, {}}), "applied");
        host.store.release();
    }
    tell(Change{"two", {}, {}, {}});
    tell(Change{"three", {}, {}, {}});
    host.store.release();
    EXPECT_EQ(answers, (Strings{"applied", "applied"}));
    EXPECT_EQ(host.store.held(), 0U) << "what waits is not decided at once";
    host.loop.advance(Duration(6));
    ASSERT_EQ(host.store.held(), 1U) << "and in one append";
    host.store.release();
    EXPECT_EQ(answers, (Strings{"applied", "applied", "applied", "applied"}));
    EXPECT_EQ(stored().title, "three");
}

TEST_F(MovedHead, AlwaysMoved_AnswersThatItMayBeRetried) {
    (void)create();
    host.store.hold = true;
    std::optional<Error> error;
    Incoming incoming{{}, host.now(), host.entropy.random(), {}};
    incoming.command.body = Change{"mine", {}, {}, {}};
    host.lane->receive(std::move(incoming), [&](Result<Answer> answer) { error = answer.error(); });
    host.loop.run();
    for (int i = 0; i < 65; ++i) {
        ASSERT_EQ(ask_elsewhere(Change{"theirs " + std::to_string(i), {}, {}, {}}), "applied");
        host.store.release();
        host.loop.advance(Duration(32));
    }
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Code::store_unavailable);
    EXPECT_EQ(error->retry_after_ms, 1'000);
    host.store.hold = false;
    EXPECT_EQ(ask(Change{"mine", {}, {}, {}}), "applied");
    EXPECT_EQ(stored().title, "mine");
}

// A disk that fell back to an earlier state, and other events that reached the same head.
TEST_F(MovedHead, SameHeadWithOtherEvents_IsMoved) {
    (void)create();
    auto const earlier = std::make_shared<store::MemoryDisk>();
    ASSERT_TRUE(store::MemoryStore(earlier).commit({&host.store.sent.front(), 1})[0]);
    ASSERT_EQ(ask(Change{"lost", {}, {}, {}}), "applied");
    host.store.disk = elsewhere.store.disk = earlier;
    host.store.store = std::make_unique<store::MemoryStore>(earlier);
    elsewhere.store.store = std::make_unique<store::MemoryStore>(earlier);
    ASSERT_EQ(ask_elsewhere(Change{"theirs", {}, {}, {}}), "applied");
    ASSERT_EQ(host.lane->state().head, stored_head());
    EXPECT_EQ(ask(Change{{}, "an-alias", {}, {}}), "applied");
    EXPECT_EQ(stored().title, "theirs");
    EXPECT_EQ(stored().alias, "an-alias");
}

// The same step is asked for again, under the same numbers, but sees something else.
TEST_F(MovedHead, HistoryIsLost_OutcomesOfItsEffectsAreDropped) {
    (void)create();
    auto const earlier = std::make_shared<store::MemoryDisk>();
    ASSERT_TRUE(store::MemoryStore(earlier, 100, true).commit({&host.store.sent.front(), 1})[0]);
    (void)ask(prompt("lost"));
    ASSERT_EQ(host.work.requests.size(), 1U);
    host.store.disk = earlier;
    host.store.reopen();
    ASSERT_EQ(ask(prompt("another prompt")), "applied");
    ASSERT_EQ(host.work.requests.size(), 2U);
    EXPECT_EQ(host.work.requests[0].request.ask, host.work.requests[1].request.ask);
    EXPECT_EQ(host.work.stopped.size(), 1U);
    auto answer_to_lost = std::move(host.work.requests[0]);
    host.work.requests.erase(host.work.requests.begin());
    Json const parts = Json::trusted(R"([{"type":"text","text":"to the lost prompt"}])");
    answer_to_lost.done(ModelReply{1, 1, 1, FinishReason::stop, parts, {}, {}});
    host.loop.run();
    EXPECT_EQ(count("model_replied"), 0U);
    host.work.reply();
    host.loop.run();
    EXPECT_EQ(count("model_replied"), 1U);
}

// The model's view is read for both, and the first read ends last.
TEST_F(MovedHead, HistoryIsLostWhileTheViewIsRead_OnlyTheNewRequestIsSent) {
    (void)create();
    for (int i = 0; i < 3; ++i) {
        (void)ask(prompt(std::string(600'000, 'x')));
        host.work.reply();
        host.loop.run();
    }
    ASSERT_FALSE(host.lane->recent_from_start());
    auto const earlier = host.store.disk->copy();
    host.store.hold_reads = true;
    (void)ask(prompt("lost"));
    host.store.hold_reads = false;
    host.store.disk->fall_back(earlier);
    ASSERT_EQ(ask(prompt("another prompt")), "applied");
    ASSERT_EQ(host.work.requests.size(), 1U);
    host.store.release_reads();
    EXPECT_EQ(host.work.requests.size(), 1U);
}

// The store lost what the run had as outcome, and kept that it was started: as after a crash.
TEST_F(MovedHead, OutcomeIsLost_RunThatNeverRunsAgainIsInDoubt) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({with_policy(plain(), CrashPolicy::never)});
    host.loop.run();
    ASSERT_EQ(host.work.ran.size(), 1U);
    auto const earlier = host.store.disk->copy();
    host.work.finish(Done{Json::trusted("1")});
    host.loop.run();
    ASSERT_EQ(host.work.requests.size(), 1U);
    host.store.disk->fall_back(earlier);
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(host.work.ran.size(), 0U) << "it is not run again";
    EXPECT_EQ(count("tool_finished"), 1U) << "with an unknown outcome";
    EXPECT_EQ(host.work.requests.size(), 2U) << "the model is asked about it";
}

TEST_F(MovedHead, OutcomeIsLost_RunThatMayIsRunAgain) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({with_policy(plain(), CrashPolicy::retry)});
    host.loop.run();
    auto const earlier = host.store.disk->copy();
    host.work.finish(Done{Json::trusted("1")});
    host.loop.run();
    host.store.disk->fall_back(earlier);
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    ASSERT_EQ(host.work.ran.size(), 1U);
    EXPECT_EQ(host.work.ran[0].run.attempt, 2U);
}

// As the two before, but the session has left memory in between: the process knows its runs.
TEST_F(MovedHead, OutcomeIsLostAndUnloaded_RunThatNeverRunsAgainIsInDoubt) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({with_policy(plain(), CrashPolicy::never)});
    host.loop.run();
    auto const earlier = host.store.disk->copy();
    host.work.finish(Done{Json::trusted("1")});
    host.loop.run();
    host.lane = std::make_shared<Lane>(id, host.services, false);
    host.store.disk->fall_back(earlier);
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(host.work.ran.size(), 0U) << "it is not run again";
    EXPECT_EQ(count("tool_finished"), 1U) << "with an unknown outcome";
}

TEST_F(MovedHead, OutcomeIsLostAndUnloaded_RunThatMayIsRunAgainLater) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({with_policy(plain(), CrashPolicy::retry)});
    host.loop.run();
    auto const earlier = host.store.disk->copy();
    host.work.finish(Done{Json::trusted("1")});
    host.loop.run();
    host.lane = std::make_shared<Lane>(id, host.services, false);
    host.store.disk->fall_back(earlier);
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(count("tool_failed"), 1U);
    EXPECT_EQ(host.work.ran.size(), 0U);
    host.loop.advance(Duration(60'000));
    EXPECT_EQ(ask(Tick{}), "applied");
    ASSERT_EQ(host.work.ran.size(), 1U);
    EXPECT_EQ(host.work.ran[0].run.attempt, 2U);
}

// The append that settles what the lost history has run fails: the next one does it.
TEST_F(MovedHead, OutcomeAndAppendAreLost_RunThatNeverRunsAgainIsInDoubt) {
    (void)create();
    (void)ask(prompt("please"));
    host.work.reply({with_policy(plain(), CrashPolicy::never)});
    host.loop.run();
    auto const earlier = host.store.disk->copy();
    host.work.finish(Done{Json::trusted("1")});
    host.loop.run();
    host.store.disk->fall_back(earlier);
    host.lane->forget_state();
    host.store.fault = testing::Fault::lost;
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "store_unavailable");
    EXPECT_EQ(ask(Change{"a title", {}, {}, {}}), "applied");
    EXPECT_EQ(host.work.ran.size(), 0U) << "it is not run again";
    EXPECT_EQ(count("tool_finished"), 1U) << "with an unknown outcome";
}

class LostStart : public MovedHead {
protected:
    // A run ends, the store falls back to before its start, and the model is asked again.
    void lose_the_start_of_a_run() {
        (void)create();
        (void)ask(prompt("please"));
        auto const earlier = host.store.disk->copy();
        host.work.reply({with_policy(plain(), CrashPolicy::never)});
        host.loop.run();
        host.work.finish(Done{Json::trusted("1")});
        host.loop.run();
        host.store.disk->fall_back(earlier);
        (void)ask(Change{"a title", {}, {}, {}});
        ASSERT_FALSE(host.work.requests.empty());
    }
};

// The new history starts the same call under another id.
TEST_F(LostStart, SameRunOfTheNewHistory_IsInDoubt) {
    ASSERT_NO_FATAL_FAILURE(lose_the_start_of_a_run());
    host.work.reply({with_policy(plain(), CrashPolicy::never)});
    host.loop.run();
    EXPECT_EQ(host.work.ran.size(), 0U) << "it is not run again";
    EXPECT_EQ(count("tool_started"), 1U);
    EXPECT_EQ(count("tool_finished"), 1U) << "with an unknown outcome";
}

TEST_F(LostStart, AnotherCallOfTheNewHistory_Runs) {
    ASSERT_NO_FATAL_FAILURE(lose_the_start_of_a_run());
    CallSpec other = with_policy(plain(), CrashPolicy::never);
    other.input = Json::trusted(R"({"other":true})");
    host.work.reply({std::move(other)});
    host.loop.run();
    EXPECT_EQ(host.work.ran.size(), 1U);
}

}  // namespace
}  // namespace dormouse::runner
