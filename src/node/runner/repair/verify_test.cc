#include "runner/repair/verify.h"

#include "runner/testing/lane_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/state_json.h"

// Planted damage, one kind for each test: it is found, named, and attributed to its session.
namespace dormouse::runner {
namespace {

using namespace session;
using namespace session::testing;

using LaneTest = testing::LaneTestOn<testing::TestJournal<store::MemoryStore, store::MemoryDisk>>;

class Verify : public LaneTest {
protected:
    // A session with a settled call, an open one, keys and notes.
    void live() {
        PendingId const first = waiting_call();
        (void)ask(prompt("later", PromptMode::queue), "key");
        (void)ask(Progress{first, Json::trusted("1"), "50"});
        (void)ask(submit(first, result("first")));
        (void)ask(submit(first, result("second")));
        host.work.reply({job()});
        host.loop.run();
        host.work.finish(PauseTerms());
        host.loop.run();
    }
    store::MemoryDisk::Session& on_disk() { return host.store.disk->sessions.at(1); }
    [[nodiscard]] VerifyReport report() {
        auto out = verify(*host.store.store, [](std::uint64_t) {});
        EXPECT_TRUE(out);
        return out.value_or(VerifyReport());
    }
    // Returns the texts of the findings, which are all about the session.
    [[nodiscard]] std::string found() {
        std::string out;
        for (Finding const& finding : report().findings) {
            EXPECT_EQ(finding.session, id);
            out += (out.empty() ? "" : " | ") + finding.what;
        }
        return out;
    }
};

TEST_F(Verify, HealthyStore_HasNoFindings) {
    live();
    VerifyReport const clean = report();
    EXPECT_EQ(clean.sessions, 1U);
    EXPECT_EQ(clean.events, stored_head());
    EXPECT_EQ(found(), "");
}

TEST_F(Verify, EmptyStore_HasNoFindings) {
    EXPECT_EQ(report().sessions, 0U);
    EXPECT_TRUE(report().findings.empty());
}

TEST_F(Verify, DeletedSession_HasNoFindings) {
    live();
    (void)ask(Delete{});
    EXPECT_EQ(report().sessions, 1U);
    EXPECT_EQ(found(), "");
}

TEST_F(Verify, SessionRow_Differs_IsFound) {
    live();
    on_disk().row.title = "planted";
    EXPECT_EQ(found(), "session row: differs from the journal");
    on_disk().row.title = "";
    on_disk().row.alias = "planted";
    EXPECT_EQ(found(), "session row: differs from the journal");
}

TEST_F(Verify, PendingRow_Differs_IsFound) {
    live();
    on_disk().pending.at({1, 1}).status = port::PendingStatus::waiting;
    EXPECT_EQ(found(), "pending row 1.1: differs from the journal");
}

TEST_F(Verify, PendingRow_Missing_IsFound) {
    live();
    on_disk().pending.erase({2, 1});
    EXPECT_EQ(found(), "pending row 2.1: missing");
}

TEST_F(Verify, PendingRow_WithoutACall_IsFound) {
    live();
    on_disk().pending[{7, 1}] = {7, 1, port::PendingStatus::waiting, "deploy", {}, {}, 3, 0};
    EXPECT_EQ(found(), "pending row 7.1: differs from the journal");
}

TEST_F(Verify, Keys_MissingOrWrong_AreFound) {
    live();
    auto const keys = on_disk().keys;
    ASSERT_GE(keys.size(), 4U);
    for (auto const& [key, seq] : keys) {
        on_disk().keys.erase(key);
        EXPECT_EQ(found(), "keys: differ from the journal") << key;
        on_disk().keys[key] = seq + 1;
        EXPECT_EQ(found(), "keys: differ from the journal") << key;
        on_disk().keys[key] = seq;
    }
    EXPECT_EQ(found(), "");
}

TEST_F(Verify, WakeTime_Missing_IsFound) {
    live();
    ASSERT_TRUE(on_disk().wake_at);
    on_disk().wake_at.reset();
    EXPECT_EQ(found(), "wake_at: differs from the state");
}

TEST_F(Verify, Snapshot_DiffersFromFold_IsFound) {
    live();
    State crooked = stored();
    crooked.title = "planted";
    on_disk().snapshot =
        port::SnapshotRow{crooked.head, wire::snapshot_format, wire::write_state(crooked)};
    EXPECT_EQ(found(), "snapshot: differs from the fold of the journal");
}

TEST_F(Verify, Event_Missing_IsFound) {
    live();
    on_disk().frames.erase(std::next(on_disk().frames.begin()));
    EXPECT_TRUE(found().starts_with("journal: event 2 is missing")) << found();
}

TEST_F(Verify, Journal_EmptyOrUnreadable_IsFound) {
    live();
    on_disk().frames.begin()->second.bytes = R"([["teleported",1,{},0]])";
    EXPECT_TRUE(found().find("newer release") != std::string::npos) << found();
    on_disk().frames.clear();
    EXPECT_EQ(found(), "journal: it is empty");
}

TEST_F(Verify, DamagedSession_OthersAreStillChecked) {
    live();
    on_disk().row.status = "paused";
    SessionId const other = SessionId::make(2, {5});
    host.lane = std::make_shared<Lane>(other, host.services, true);
    (void)ask(Create{other, "default", "demo", {}, {}, {}, {}, {}, {}});
    std::vector<std::uint64_t> progress;
    auto const out =
        verify(*host.store.store, [&](std::uint64_t sessions) { progress.push_back(sessions); });
    ASSERT_TRUE(out);
    EXPECT_EQ(out->sessions, 2U);
    EXPECT_EQ(out->findings.size(), 1U);
    EXPECT_EQ(progress, std::vector<std::uint64_t>{2});
}

}  // namespace
}  // namespace dormouse::runner
