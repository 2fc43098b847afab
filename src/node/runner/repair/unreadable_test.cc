// A session with damaged data affects itself only.
#include "runner/repair/unreadable.h"

#include "runner/testing/runner_fixture.h"
#include "store/memory/memory_store.h"
#include "wire/outbox_json.h"

namespace dormouse::runner::testing {
namespace {

using namespace session;

constexpr Duration a_day{24 * 3'600'000};

class Unreadable : public RunnerTestOn<TestJournal<store::MemoryStore, store::MemoryDisk>> {
protected:
    store::MemoryDisk::Session& rows(SessionId session) {
        return journal.disk->sessions.at(session.number());
    }
    // As stored by a release that did not check a model's arguments.
    void spoil(SessionId session) {
        auto& bytes = rows(session).frames.rbegin()->second.bytes;
        bytes.insert(bytes.size() / 2, R"({"what":"a")");
        rows(session).snapshot.reset();
    }
    [[nodiscard]] std::optional<Error> read(SessionId session) {
        std::optional<Error> out;
        runner->read_lane(session, [&](Result<std::shared_ptr<Lane>> lane) {
            if (!lane) out = lane.error();
        });
        loop.run();
        return out;
    }
};

TEST_F(Unreadable, Read_DamagedSession_SaysWhatToDoAndOthersContinue) {
    SessionId const bad = waiting_session(a_day);
    SessionId const good = waiting_session(a_day);
    spoil(bad);
    restart();
    auto const error = read(bad);
    ASSERT_TRUE(error);
    EXPECT_TRUE(is_unreadable(*error));
    EXPECT_TRUE(error->detail.ends_with("cannot be read: restore a backup, or delete it."))
        << error->detail;
    EXPECT_FALSE(read(good));
    EXPECT_EQ(ask(good, prompt("more")), "applied");
}

TEST_F(Unreadable, Read_MissingOrForeignRecords_IsUnreadable) {
    for (std::string const bytes : {"[]", "[[\"turn_started\",1,{},1]]", "", "7", "[[1,2,3,4]]"}) {
        SessionId const bad = waiting_session(a_day);
        rows(bad).frames.begin()->second.bytes = bytes;
        rows(bad).snapshot.reset();
        restart();
        EXPECT_TRUE(read(bad)) << bytes;
    }
}

TEST_F(Unreadable, Read_JournalThatLostItsEnd_IsUnreadable) {
    SessionId const bad = waiting_session(a_day);
    rows(bad).frames.erase(std::prev(rows(bad).frames.end()));
    rows(bad).snapshot.reset();
    restart();
    auto const error = read(bad);
    ASSERT_TRUE(error) << "a pending row names an event that is gone";
    EXPECT_TRUE(is_unreadable(*error));
}

TEST_F(Unreadable, Snapshot_ThatContradictsItself_IsFoldedAgain) {
    SessionId const session = waiting_session(a_day);
    State const before = stored(session);
    rows(session).snapshot = port::SnapshotRow{before.head, 1, R"({"head":3,"calls":[{"no":1}]})"};
    restart();
    EXPECT_FALSE(read(session));
    EXPECT_TRUE(stored(session) == before);
}

TEST_F(Unreadable, Scan_DamagedSession_ReadsItAgainAfterAMinute) {
    SessionId const session = new_session();
    (void)ask(session, prompt("please"));
    restart();
    auto const whole = rows(session).frames;
    spoil(session);
    runner->start();
    loop.advance(Duration(5'000));
    EXPECT_TRUE(effects.requests.empty());
    rows(session).frames = whole;
    loop.advance(Duration(20'000));
    EXPECT_TRUE(effects.requests.empty()) << "it is not read each second";
    loop.advance(Duration(60'000));
    EXPECT_EQ(effects.requests.size(), 1U);
}

TEST_F(Unreadable, Delete_DamagedSession_LeavesTheTombstone) {
    SessionId const bad = waiting_session(a_day);
    spoil(bad);
    restart();
    EXPECT_EQ(ask(bad, Tick{}), "internal");
    EXPECT_EQ(ask(bad, Delete{}), "applied");
    EXPECT_EQ(rows(bad).row.status, "deleted");
    EXPECT_TRUE(rows(bad).frames.empty());
    auto const error = read(bad);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, Code::not_found);
    EXPECT_EQ(ask(bad, Delete{}), "not_found");
    EXPECT_TRUE(verify(*journal.store, [](std::uint64_t) {})->findings.empty());
}

TEST_F(Unreadable, Delete_DamagedChild_NotifiesItsParent) {
    SessionId const parent = new_session();
    SessionId const child = SessionId::make(500, {0, 0, 0, 0, 0, 1, 2, 3});
    StartRun run;
    run.task = 1;
    run.project = "default";
    run.agent = "demo";
    run.parts = session::testing::Given::parts("please");
    EXPECT_EQ(ask(child, Deliver{{parent, 7, 0}, run}), "applied");
    EXPECT_EQ(ask(child, prompt("more")), "applied");
    spoil(child);
    restart();
    EXPECT_EQ(ask(child, Tick{}), "internal");
    EXPECT_EQ(ask(child, Delete{}), "applied");
    auto const& outbox = journal.sent.back().outbox;
    ASSERT_EQ(outbox.size(), 1U);
    EXPECT_EQ(outbox[0].target, parent.text());
    auto const what = wire::read_outbox_body(outbox[0].body);
    ASSERT_TRUE(what);
    EXPECT_EQ(std::get<RunEnded>(*what).task, 1U);
    EXPECT_TRUE(std::get<RunEnded>(*what).gone);
}

TEST_F(Unreadable, Verify_DeletedByHandWithItsJournal_IsFound) {
    SessionId const session = waiting_session(a_day);
    rows(session).row.status = "deleted";
    auto const found = verify(*journal.store, [](std::uint64_t) {})->findings;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].what.starts_with("journal: the session has events"));
    EXPECT_FALSE(can_be_repaired(found[0]));
}

TEST_F(Unreadable, Verify_LostCreationKey_IsFound) {
    ask_for_session(demo(), ann("0123456789abcdef0123456789abcdef"));
    loop.run();
    EXPECT_TRUE(verify(*journal.store, [](std::uint64_t) {})->findings.empty());
    journal.disk->created.clear();
    auto const found = verify(*journal.store, [](std::uint64_t) {})->findings;
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].what.starts_with("created: ")) << found[0].what;
}

}  // namespace
}  // namespace dormouse::runner::testing
