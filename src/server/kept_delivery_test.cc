#include "runner/testing/runner_fixture.h"
#include "server/api_fixture.h"
#include "server/webhooks.h"
#include "store/memory/memory_store.h"

// A delivery that came before its call, over writes of unknown end: one call takes it, and one.
namespace dormouse::server {
namespace {

using runner::testing::Fault;

// Keeps, and says that it did not.
class HidingStore final : public store::MemoryStore {
public:
    using store::MemoryStore::MemoryStore;
    [[nodiscard]] Result<void> keep(port::KeptRow const& row) override {
        auto kept = store::MemoryStore::keep(row);
        if (kept) return fail(Code::store_unavailable, "planted");
        return kept;
    }
};

using KeepingJournal = runner::testing::TestJournal<store::MemoryStore, store::MemoryDisk>;

class KeptDelivery : public runner::testing::RunnerTestOn<KeepingJournal> {
protected:
    // A source sends what no call waits for.
    std::string keep() {
        port::KeptRow row;
        row.delivery.key[0] = 7;
        row.delivery_id = "d1";
        row.at = clock.now();
        row.source = "ci";
        row.project = "default";
        row.reference = "4711";
        row.body = R"({"run":"4711","output":"green"})";
        key = row.delivery.key;
        std::string said;
        api.webhooks().keep(std::move(row), [&said](Result<void> kept) {
            said = kept ? "kept" : std::string(info(kept.error().code).text);
        });
        loop.run();
        return said;
    }
    // A call begins to wait under the reference.
    SessionId waiting_for_it() {
        SessionId const session = new_session();
        EXPECT_EQ(ask(session, prompt("please")), "applied");
        effects.reply({session::testing::job()});
        loop.run();
        session::PauseTerms pause;
        pause.external_ref = "4711";
        effects.finish(pause);
        loop.run();
        return session;
    }
    // The append that submits the delivery to the session's call ends so.
    SessionId submitted(Fault fault) {
        SessionId const session = new_session();
        EXPECT_EQ(ask(session, prompt("please")), "applied");
        effects.reply({session::testing::job()});
        loop.run();
        session::PauseTerms pause;
        pause.external_ref = "4711";
        journal.hold = true;
        effects.finish(pause);
        loop.run();
        journal.release();
        EXPECT_EQ(journal.held(), 1u) << "the append that settles the call";
        journal.fault = fault;
        journal.release();
        journal.hold = false;
        return session;
    }
    [[nodiscard]] bool waits(SessionId session) { return !stored(session).calls.empty(); }

    FakeCatalogue catalogue;
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
             {{.id = "ci", .secrets = {"s"}, .external_ref = "/run", .output = "/output"}}}};
    Bits128 key{};
};

TEST_F(KeptDelivery, CallOfItsReference_TakesIt) {
    EXPECT_EQ(keep(), "kept");
    EXPECT_FALSE(waits(waiting_for_it()));
    EXPECT_FALSE(api.webhooks().keeps(key));
    EXPECT_TRUE(waits(waiting_for_it()));
}

TEST_F(KeptDelivery, TakenByAHiddenAppend_IsTakenByNoSecondCall) {
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

// The source was told that it was not kept, and perhaps does not send it again.
TEST_F(KeptDelivery, KeptByAHiddenWrite_ItsCallTakesIt) {
    journal.store = std::make_unique<HidingStore>(journal.disk);
    EXPECT_EQ(keep(), "store_unavailable");
    loop.advance(Duration(2'000));
    EXPECT_TRUE(api.webhooks().keeps(key));
    EXPECT_FALSE(waits(waiting_for_it()));
}

}  // namespace
}  // namespace dormouse::server
