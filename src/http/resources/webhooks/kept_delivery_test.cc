#include "http/resources/testing/api_fixture.h"
#include "http/resources/webhooks/webhooks.h"
#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"

// Tests a delivery that arrives before its call, across writes of unknown outcome: exactly one call
// takes it.
namespace dormouse::http {
namespace {

using runner::testing::Fault;

// Stores the row and reports a failure.
class HidingStore final : public store::MemoryStore {
public:
    using store::MemoryStore::MemoryStore;
    [[nodiscard]] Result<void> keep(port::KeptRow const& row) override {
        auto kept = store::MemoryStore::keep(row);
        if (kept) return fail(Code::store_unavailable, "planted");
        return kept;
    }
};

// Other processes use the store, too.
using KeepingJournal = runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk, true>;

class KeptDelivery : public runner::testing::RunnerTestOn<KeepingJournal> {
protected:
    KeptDelivery() { report_to(api, observer); }

    // A source sends a delivery for which no call waits.
    std::string keep() {
        begin_keep();
        loop.run();
        return result;
    }
    // Sets `said` to the outcome when the loop has run.
    void begin_keep() {
        port::KeptRow row;
        row.delivery.key[0] = 7;
        row.delivery_id = "d1";
        row.at = clock.now();
        row.source = "ci";
        row.project = "default";
        row.reference = "4711";
        row.body = R"({"run":"4711","output":"green"})";
        key = row.delivery.key;
        result.clear();
        api.webhooks().keep(std::move(row), [this](Result<void> kept) {
            result = kept ? "kept" : std::string(info(kept.error().code).text);
        });
    }
    // Creates a session that runs a tool, or asks the gates of its call first.
    SessionId calling(session::CallSpec spec = session::testing::job()) {
        SessionId const session = new_session();
        EXPECT_EQ(ask(session, prompt("please")), "applied");
        effects.reply({std::move(spec)});
        loop.run();
        return session;
    }
    static session::PauseTerms under_the_reference(session::PauseTerms pause = {}) {
        pause.external_ref = "4711";
        return pause;
    }
    // Makes a call wait under the reference.
    SessionId waiting_for_it() {
        SessionId const session = calling();
        effects.finish(under_the_reference());
        loop.run();
        return session;
    }
    // Makes a call without an agent wait under the reference, as POST /api/pending does.
    SessionId asked_under_it(session::PauseReason reason) {
        session::Create create;
        create.project = "default";
        create.agent = std::string(session::no_agent);
        session::Create::Ask of{session::testing::job(), under_the_reference(),
                                session::testing::Given::parts("Which build?")};
        of.terms.reason = reason;
        of.call.terms.may_pause = {reason};
        create.ask = std::move(of);
        ask_for_session(std::move(create), ann());
        loop.run();
        return created.back();
    }
    // Makes the append that submits the delivery to the session's call end with this fault.
    SessionId submitted(Fault fault) {
        SessionId const session = calling();
        journal.hold = true;
        effects.finish(under_the_reference());
        loop.run();
        journal.release();
        EXPECT_EQ(journal.held(), 1u) << "the append that settles the call";
        journal.fault = fault;
        journal.release();
        journal.hold = false;
        return session;
    }
    [[nodiscard]] bool waits(SessionId session) { return !stored(session).calls.empty(); }

    Gate gate{{{{"alice", "s3cret"}}, {}, {}, 3676, 10, std::string(32, 'k')}, clock};
    Metrics metrics{clock.now()};
    io::Log log{{io::LogLevel::off, io::LogOptions::Form::text, {}}};
    Api api{{loop,
             journal,
             catalogue,
             *runner,
             gate,
             metrics,
             log,
             entropy,
             clock,
             {{.id = "ci", .secrets = {"s"}, .external_ref = "/run", .output = "/output"}}}};
    Bits128 key{};
    std::string result;
};

TEST_F(KeptDelivery, CallOfItsReference_TakesIt) {
    EXPECT_EQ(keep(), "kept");
    EXPECT_FALSE(waits(waiting_for_it()));
    EXPECT_FALSE(api.webhooks().keeps(key));
    EXPECT_TRUE(waits(waiting_for_it()));
}

// As after a freeze in which another process had this one's place.
TEST_F(KeptDelivery, CallWasMissed_TakesItWhenAllIsOfferedAgain) {
    EXPECT_EQ(keep(), "kept");
    observer.on_append = {};
    SessionId const session = waiting_for_it();
    EXPECT_TRUE(waits(session));
    report_to(api, observer);
    api.missed_appends();
    loop.run();
    EXPECT_FALSE(waits(session));
    EXPECT_FALSE(api.webhooks().keeps(key));
}

TEST_F(KeptDelivery, CallWithoutAnAgent_TakesItOnce) {
    EXPECT_EQ(keep(), "kept");
    EXPECT_FALSE(waits(asked_under_it(session::PauseReason::tool_result)));
    EXPECT_FALSE(api.webhooks().keeps(key));
    EXPECT_TRUE(waits(asked_under_it(session::PauseReason::tool_result)));
}

TEST_F(KeptDelivery, CallForADecision_LeavesItToALaterCall) {
    EXPECT_EQ(keep(), "kept");
    SessionId const approval = asked_under_it(session::PauseReason::approval);
    EXPECT_TRUE(waits(approval));
    EXPECT_TRUE(api.webhooks().keeps(key));
}

// The session is deleted while the lane reads the store for the offer.
TEST_F(KeptDelivery, SessionDeletedDuringTheOffer_LaterCallTakesIt) {
    EXPECT_EQ(keep(), "kept");
    observer.on_append = {};
    SessionId const approval = asked_under_it(session::PauseReason::approval);
    report_to(api, observer);
    // Before it the delivery is read and its call is found.
    constexpr int read_of_the_lane = 4;
    int reads = 0;
    journal.before_read = [&] { journal.hold_reads = ++reads == read_of_the_lane; };
    api.missed_appends();
    loop.run();
    ASSERT_EQ(reads, read_of_the_lane);
    journal.before_read = {};
    journal.hold_reads = false;  // the held read stays held
    EXPECT_EQ(ask(approval, session::Delete{}), "applied");
    journal.release_reads();
    loop.run();
    EXPECT_TRUE(api.webhooks().keeps(key));
    EXPECT_FALSE(waits(waiting_for_it()));
}

// The handler found no call; the call paused before the delivery was written.
TEST_F(KeptDelivery, CallPausedDuringTheWrite_TakesIt) {
    SessionId const session = calling();
    begin_keep();
    effects.finish(under_the_reference());
    loop.run();
    EXPECT_EQ(result, "kept");
    EXPECT_FALSE(waits(session));
    EXPECT_FALSE(api.webhooks().keeps(key)) << "it is used";
}

// The call was found by a gate's question; its next pause waits for something else.
TEST_F(KeptDelivery, PauseSettledDuringLookup_NextPauseGetsNothing) {
    SessionId const session = calling(session::testing::gated(session::testing::job()));
    auto gate = std::move(effects.gated.back());
    effects.gated.pop_back();
    auto const question =
        under_the_reference(session::testing::pause_for(session::PauseReason::approval));
    gate.done(session::GateOutcome{gate.ask.call, gate.ask.gate, question});
    loop.run();
    ASSERT_TRUE(waits(session));
    PendingId const approval = stored(session).calls.begin()->second.pending;
    journal.hold_reads = true;
    EXPECT_EQ(keep(), "kept") << "and its call is being looked for";
    journal.hold_reads = false;  // the held read stays held
    session::Submission approved;
    approved.kind = session::SubmissionKind::decision;
    approved.approved = true;
    EXPECT_EQ(ask(session, session::Submit{approval, approved, "http", {}, {}, {}}), "applied");
    ASSERT_EQ(effects.gated.size(), 1u) << "the gate decides";
    auto next = std::move(effects.gated.back());
    next.done(session::GateOutcome{next.ask.call, next.ask.gate, session::GateOutcome::Allow{}});
    loop.run();
    ASSERT_FALSE(effects.ran.empty());
    effects.finish(session::PauseTerms());
    loop.run();
    ASSERT_TRUE(waits(session));
    PendingId const job = stored(session).calls.begin()->second.pending;
    ASSERT_NE(job.generation, approval.generation);
    journal.release_reads();
    EXPECT_TRUE(waits(session)) << "it waits for its own result";
    EXPECT_TRUE(api.webhooks().keeps(key));
}

TEST_F(KeptDelivery, TakenByAHiddenAppend_NoSecondCallTakesIt) {
    EXPECT_EQ(keep(), "kept");
    EXPECT_FALSE(waits(submitted(Fault::hidden)));
    loop.advance(Duration(3'000));
    EXPECT_FALSE(api.webhooks().keeps(key));
    SessionId const second = waiting_for_it();
    loop.advance(Duration(3'000));
    EXPECT_TRUE(waits(second));
}

TEST_F(KeptDelivery, AppendThatTakesItIsLost_TheCallTakesItLater) {
    EXPECT_EQ(keep(), "kept");
    SessionId const session = submitted(Fault::lost);
    EXPECT_TRUE(waits(session));
    loop.advance(Duration(3'000));
    EXPECT_FALSE(waits(session));
    EXPECT_FALSE(api.webhooks().keeps(key));
}

// The processes have kept more deliveries than one page, or the memory of one process, may have.
TEST_F(KeptDelivery, KeptByAProcessThatIsGone_AreAllRead) {
    Time const now = clock.now();
    auto const key_of_row = [](std::uint32_t n) {
        return Bits128{static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n), 7};
    };
    std::uint32_t const rows = Webhooks::kept_max + 2'000;
    for (std::uint32_t n = 0; n < rows; ++n) {
        port::KeptRow row{
            .delivery = {.key = key_of_row(n)}, .at = now + Duration(n / 2), .source = "gone"};
        journal.disk->kept.emplace(row.delivery.key, std::move(row));
    }
    api.webhooks().read_kept();
    loop.run();
    for (std::uint32_t const n : {0U, rows / 2, rows - 1})
        EXPECT_TRUE(api.webhooks().keeps(key_of_row(n))) << n;
}

TEST_F(KeptDelivery, OldOnesThatNoProcessHasInMemory_AreDropped) {
    for (std::uint8_t const hours : {std::uint8_t{23}, std::uint8_t{25}}) {
        port::KeptRow row{.delivery = {.key = {hours}},
                          .at = clock.now() - Duration(hours * 3'600'000LL),
                          .source = "gone"};
        journal.disk->kept.emplace(row.delivery.key, std::move(row));
    }
    api.webhooks().start();
    loop.run();
    EXPECT_FALSE(api.webhooks().keeps({25}));
    EXPECT_FALSE(journal.disk->kept.contains({25}));
    EXPECT_TRUE(journal.disk->kept.contains({23}));
}

// Both read it when they started, or when the process that kept it ended.
TEST_F(KeptDelivery, TakenThroughAnotherProcess_NoSecondCallTakesIt) {
    EXPECT_EQ(keep(), "kept");
    std::vector<Bits128> const keys{key};
    ASSERT_TRUE(journal.store->drop_kept(keys));
    SessionId const second = waiting_for_it();
    EXPECT_TRUE(waits(second));
    EXPECT_FALSE(api.webhooks().keeps(key));
}

// Two processes find two calls that wait under the reference; the other one was faster.
TEST_F(KeptDelivery, TakenThroughAnotherProcessDuringTheAppend_TheCallWaits) {
    EXPECT_EQ(keep(), "kept");
    SessionId const session = calling();
    journal.hold = true;
    effects.finish(under_the_reference());
    loop.run();
    journal.release();
    EXPECT_EQ(journal.held(), 1u) << "the append that settles the call";
    journal.disk->delivered.emplace(key, Bits128{});
    journal.disk->kept.erase(key);
    journal.hold = false;
    journal.release();
    loop.run();
    EXPECT_TRUE(waits(session));
    EXPECT_FALSE(api.webhooks().keeps(key));
    PendingId const pending = stored(session).calls.begin()->second.pending;
    session::Submit const by_hand{pending, session::testing::result("by hand"), "http", {}, {}, {}};
    EXPECT_EQ(ask(session, by_hand), "applied");
}

// The source received an error and may not send the delivery again.
TEST_F(KeptDelivery, KeptByAHiddenWrite_ItsCallTakesIt) {
    journal.store = std::make_unique<HidingStore>(journal.disk);
    EXPECT_EQ(keep(), "store_unavailable");
    loop.advance(Duration(2'000));
    EXPECT_TRUE(api.webhooks().keeps(key));
    EXPECT_FALSE(waits(waiting_for_it()));
}

}  // namespace
}  // namespace dormouse::http
