#include "store/sqlite/sqlite_store.h"

#include "store/memory/conformance.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace dormouse::store {
namespace {

using testing::HasSubstr;
using testing::Not;

std::unique_ptr<SqliteStore> open_in(TestDirectory const& directory) {
    auto opened = SqliteStore::open(directory.path());
    if (!opened) ADD_FAILURE() << opened.error().detail;
    return std::move(opened.value());
}

class Sqlite final : public StoreUnderTest {
public:
    port::Store& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        store_ = open_in(directory_);
    }

private:
    TestDirectory directory_;
    std::unique_ptr<SqliteStore> store_ = open_in(directory_);
};

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreConformance,
                         testing::Values(StoreKind{"sqlite",
                                                   [] { return std::make_unique<Sqlite>(); }}),
                         testing::PrintToStringParamName());

void commit_one(port::Store& store, port::Append const& one) {
    auto const results = store.commit({&one, 1});
    ASSERT_TRUE(results[0]) << results[0].error().detail;
}

// A session whose frames, snapshot and artifact hold the text; the newest frame does not.
port::Append redaction_of(port::Store& store, std::string const& text) {
    for (Seq seq = 0; seq < 40; ++seq) {
        auto one = seq == 0 ? create(1, "acme") : append(1, seq);
        one.frame.bytes = "[\"" + text + std::to_string(seq) + "\"]";
        one.snapshot = port::SnapshotRow{seq + 1, 1, std::string(100 * (40 - seq), ' ') + text};
        one.artifacts = {{seq + 1, std::make_shared<std::string>(9'000, 'x')}};
        commit_one(store, one);
    }
    auto redact = append(1, 40);
    redact.rewrite.emplace();
    for (Seq seq = 1; seq <= 40; ++seq) {
        redact.rewrite->frames.push_back({seq, 1, "[]"});
        redact.rewrite->artifacts.push_back(seq);
    }
    redact.snapshot = port::SnapshotRow{41, 1, "state"};
    return redact;
}

TEST(SqliteStore, Rewrite_LeavesNothingInTheFiles) {
    TestDirectory const directory;
    auto const store = open_in(directory);
    auto const redact = redaction_of(*store, "hunter2");
    ASSERT_TRUE(directory.holds("hunter2"));
    commit_one(*store, redact);
    EXPECT_FALSE(directory.holds("hunter2"));
    EXPECT_EQ(store->page(session(1), 1, 1'000'000).value().size(), 41u);
    commit_one(*store, append(1, 41));
}

// The process ends between the commit and the overwriting, which a reader delays here.
TEST(SqliteStore, RewriteCutOffByACrash_IsFinishedAtTheNextOpen) {
    TestDirectory const directory;
    pid_t const child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto const store = SqliteStore::open(directory.path(), {.busy_timeout_ms = 1}).value();
        auto const redact = redaction_of(*store, "hunter2");
        auto reader = directory.connect();
        std::ignore = reader.run("BEGIN; SELECT count(*) FROM journal");
        std::ignore = store->commit({&redact, 1});
        _exit(directory.holds("hunter2") ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "the reader did not delay it";
    EXPECT_TRUE(directory.holds("hunter2"));
    auto const store = open_in(directory);
    EXPECT_FALSE(directory.holds("hunter2"));
    EXPECT_EQ(store->page(session(1), 1, 1'000'000).value().at(0).bytes, "[]");
}

TEST(SqliteStore, Feed_KeepsOnlyTheNewestAppends) {
    TestDirectory const directory;
    auto const store = SqliteStore::open(directory.path(), {.feed_kept = 100}).value();
    expect_that_only_the_newest_100_are_kept(*store);
}

TEST(SqliteStore, SecondOpen_IsRefusedAndNamesTheHolder) {
    TestDirectory const directory;
    auto const first = open_in(directory);
    auto const second = SqliteStore::open(directory.path());
    ASSERT_EQ(code(second), Code::wrong_state);
    EXPECT_THAT(second.error().detail, HasSubstr("is in use by pid " + std::to_string(getpid())));
    EXPECT_THAT(second.error().detail, HasSubstr("stop that process"));
    EXPECT_EQ(directory.text("SELECT value FROM meta WHERE name = 'epoch'"), "1")
        << "the refused open did not increment the epoch";
}

TEST(SqliteStore, OtherProcess_IsRefusedUntilTheFirstEnds) {
    TestDirectory const directory;
    auto store = open_in(directory);
    auto const attempt = [&] {
        auto const child = fork();
        if (child == 0) {
            auto const opened = SqliteStore::open(directory.path());
            _exit(opened ? 0 : opened.error().code == Code::wrong_state ? 1 : 2);
        }
        int status = 0;
        waitpid(child, &status, 0);
        return WEXITSTATUS(status);
    };
    EXPECT_EQ(attempt(), 1);
    store.reset();
    EXPECT_EQ(attempt(), 0);
    EXPECT_EQ(open_in(directory)->epoch(), 3u);
}

TEST(SqliteStore, SecondOpen_LockFileRemoved_IsRefused) {
    TestDirectory const directory;
    auto const store = open_in(directory);
    std::filesystem::remove(directory.path() / "lock");
    auto const second = SqliteStore::open(directory.path());
    ASSERT_EQ(code(second), Code::wrong_state);
    EXPECT_THAT(second.error().detail, HasSubstr("is in use by another process"));
}

TEST(SqliteStore, DirectoryAndFile_AreForTheOwnerOnly) {
    TestDirectory const directory;
    auto const path = directory.path() / "a" / "b";
    auto const store = SqliteStore::open(path);
    ASSERT_TRUE(store) << store.error().detail;
    auto const mode = [](std::filesystem::path const& of) {
        return static_cast<unsigned>(std::filesystem::status(of).permissions()) & 077u;
    };
    EXPECT_EQ(mode(path), 0u);
    for (auto const* const name : {"dormouse.db", "dormouse.db-wal", "dormouse.db-shm", "lock"})
        EXPECT_EQ(mode(path / name), 0u) << name;
}

TEST(SqliteStore, DirectoryThatCannotBeCreated_IsAnError) {
    TestDirectory const directory;
    std::ofstream(directory.path() / "file") << "x";
    EXPECT_EQ(code(SqliteStore::open(directory.path() / "file" / "store")),
              Code::store_unavailable);
}

TEST(SqliteStore, Close_LeavesOneFile) {
    TestDirectory const directory;
    auto store = open_in(directory);
    commit_one(*store, create(1, "acme"));
    EXPECT_TRUE(std::filesystem::file_size(directory.path() / "dormouse.db-wal") > 0);
    store.reset();
    std::error_code gone;
    auto const log = std::filesystem::file_size(directory.path() / "dormouse.db-wal", gone);
    EXPECT_TRUE(gone || log == 0);
    EXPECT_EQ(directory.text("SELECT count(*) || '' FROM journal"), "1");
}

// Releases up to 0.1 stored the first 32 bits of a frame's stamp.
TEST(SqliteStore, ShortChecksum_IsReadAndAppendedTo) {
    TestDirectory const directory;
    auto store = open_in(directory);
    auto const first = create(1, "acme");
    commit_one(*store, first);
    store.reset();
    directory.run("UPDATE journal SET sum = (sum >> 32) & 4294967295");
    store = open_in(directory);
    auto const stamp = store->load(session(1)).value().stamp;
    EXPECT_EQ(stamp, port::stamp_of(session(1), first.frame));
    auto second = append(1, 1);
    second.stamp = port::Stamp{static_cast<std::uint64_t>(stamp) ^ 1};
    EXPECT_TRUE(moved(store->commit({&second, 1})[0]));
    second.stamp = stamp;
    commit_one(*store, second);
    EXPECT_EQ(store->load(session(1)).value().tail.size(), 2U);
    store.reset();
    directory.run("UPDATE journal SET sum = 7 WHERE k = (1 << 24) + 1");
    EXPECT_EQ(open_in(directory)->load(session(1)).error().code, Code::internal);
}

TEST(SqliteStore, FlippedBit_IsReportedAndNotServed) {
    TestDirectory const directory;
    auto store = open_in(directory);
    commit_one(*store, create(1, "acme"));
    commit_one(*store, append(1, 1, 3));
    commit_one(*store, create(2, "acme"));
    store.reset();
    for (auto const* const flip : {"data = substr(data, 1, 7) || 'X' || substr(data, 9)",
                                   "sum = sum + 1", "n = n + 1", "k = k + 1"}) {
        SCOPED_TRACE(flip);
        directory.run("CREATE TABLE before_damage AS SELECT * FROM journal");
        directory.run("UPDATE journal SET " + std::string(flip) + " WHERE k = (1 << 24) + 2");
        store = open_in(directory);
        for (auto const& error :
             {store->load(session(1)).error(), store->page(session(1), 3, 10).error()}) {
            EXPECT_EQ(error.code, Code::internal);
            EXPECT_THAT(error.detail, HasSubstr(session(1).text() + ", event "));
            EXPECT_THAT(error.detail, HasSubstr(directory.file().string()));
        }
        EXPECT_TRUE(store->page(session(1), 1, 1)) << "earlier events can be read";
        EXPECT_TRUE(store->load(session(2))) << "other sessions can be read";
        store.reset();
        directory.run(
            "DELETE FROM journal; INSERT INTO journal SELECT * FROM before_damage; DROP TABLE "
            "before_damage");
    }
}

TEST(SqliteStore, LostRowsAndDamagedSnapshots_AreReported) {
    TestDirectory const directory;
    auto store = open_in(directory);
    commit_one(*store, create(1, "acme"));
    auto second = append(1, 1);
    second.snapshot = port::SnapshotRow{.seq = 2, .format = 1, .state = "state"};
    commit_one(*store, second);
    commit_one(*store, create(2, "acme"));
    store.reset();
    directory.run("DELETE FROM journal WHERE k = (1 << 24) + 2 OR k > 2 << 24");
    store = open_in(directory);
    EXPECT_THAT(store->load(session(1)).error().detail, HasSubstr("event 2 is missing"));
    EXPECT_THAT(store->load(session(2)).error().detail,
                HasSubstr(session(2).text() + " has no events"));
    store.reset();
    directory.run("UPDATE snapshots SET state = x'00'");
    store = open_in(directory);
    EXPECT_THAT(store->load(session(1)).error().detail,
                HasSubstr("snapshot of " + session(1).text()));
}

TEST(SqliteStore, FileThatIsNoDatabase_IsRefused) {
    TestDirectory const directory;
    std::ofstream(directory.file()) << std::string(8192, 'x');
    auto const opened = SqliteStore::open(directory.path());
    ASSERT_EQ(code(opened), Code::internal);
    EXPECT_THAT(opened.error().detail, HasSubstr("dormouse.db"));
}

// Stores a settled call and a waiting one, in frames like the runner's.
void pause_and_settle(port::Store& store) {
    auto made = create(1, "acme", 4);
    made.row->title = "Ship";
    made.frame.bytes = R"([["session_created",10,{"cwd":"/w"}],["note",1,{}],["model_replied",2,)"
                       R"({"calls":[{"callID":"call_1","input":{"to":"A"}},)"
                       R"({"callID":"call_2","input":{"to":"B"}}]}],)"
                       R"(["call_paused",2,{"pendingID":"pnd_x_1_1_y","externalRef":"run-4711"}]])";
    made.pending = {pause(1), pause(2)};
    made.pending[0].paused = made.pending[1].paused = 4;
    made.pending[0].timeout = at(9);
    commit_one(store, made);
    auto settled = append(1, 4, 2);
    settled.frame.bytes = R"([["note",20,{}],["submitted",1,{"result":{"output":"ok"}}]])";
    settled.pending = {made.pending[0]};
    settled.pending[0].status = port::PendingStatus::completed;
    settled.pending[0].settled = 6;
    commit_one(store, settled);
}

TEST(SqliteStore, Views_ShowCallsAndSessions) {
    TestDirectory const directory;
    auto const store = open_in(directory);
    pause_and_settle(*store);
    EXPECT_EQ(directory.text("SELECT json_array(id, project_id, agent_id, title, status,"
                             " working_directory, created_at) FROM agent_sessions"),
              "[\"" + session(1).text() + R"(","acme","ops","Ship","active","/w",1795290000])");
    auto const calls = [&](std::string const& columns, std::string const& call) {
        return directory.text("SELECT json_array(" + columns +
                              ") FROM pending_tool_calls WHERE call_id = '" + call + "'");
    };
    EXPECT_EQ(calls("id, session_id, message_id, tool, input", "call_1"),
              "[\"pnd_x_1_1_y\",\"" + session(1).text() + "\",\"msg_" + session(1).bare() +
                  R"(_3","deploy","{\"to\":\"A\"}"])");
    EXPECT_EQ(calls("status, external_ref, timeout, completed_at, result, error", "call_1"),
              R"(["completed","run-4711",1795290000009,21,"{\"output\":\"ok\"}",null])");
    EXPECT_EQ(calls("status, input, created_at, started_at, completed_at, result", "call_2"),
              R"(["waiting","{\"to\":\"B\"}",1795290000002,null,null,null])");
}

TEST(SqliteStore, FrameInShortForm_IsReadWholeAndShownBySql) {
    TestDirectory const directory;
    auto store = open_in(directory);
    auto const bare = session(1).bare();
    auto const pending = "pnd_" + bare + "_1_1_3pRUQLfXXUT7McX83AKdoA";
    auto made = create(1, "acme", 2);
    made.frame.bytes = R"([["tool_started",1,{"callID":"call_1","pendingID":")" + pending +
                       R"(","epoch":1},1],["call_paused",0,{"callID":"call_1","pendingID":")" +
                       pending + R"(","reason":"tool_result","placeholder":{}},1]])";
    made.pending = {pause(1)};
    made.pending[0].paused = 2;
    commit_one(*store, made);
    EXPECT_THAT(directory.text("SELECT data FROM journal"), Not(HasSubstr(bare)));
    EXPECT_EQ(directory.text("SELECT id FROM pending_tool_calls"), pending);
    EXPECT_EQ(store->page(session(1), 1, 1'000).value().at(0).bytes, made.frame.bytes);
    // As releases before format 23 stored it.
    directory.run("UPDATE journal SET data = '" + made.frame.bytes + "'");
    EXPECT_EQ(directory.text("SELECT id FROM pending_tool_calls"), pending);
    EXPECT_EQ(store->page(session(1), 1, 1'000).value().at(0).bytes, made.frame.bytes);
}

// Stores a session of an external agent as release 0.1 wrote it: two prompts use the id "t" for a
// tool call, and only a permission names "u".
void work_of_an_external_agent(port::Store& store) {
    auto made = create(1, "acme", 9);
    made.frame.bytes =
        R"([["session_created",10,{"cwd":"/w"}],)"
        R"(["agent_update",1,{"messageID":"msg_1","kind":"tool","toolCallID":"t",)"
        R"("status":"pending","title":"bash","body":{"kind":"execute","input":{}}}],)"
        R"(["agent_update",1,{"kind":"tool","toolCallID":"t","status":"in_progress",)"
        R"("body":{"kind":"execute","input":"ls -l"}}],)"
        R"(["agent_update",1,{"kind":"tool","toolCallID":"t","status":"completed",)"
        R"("body":{"kind":"execute","name":"bash","output":{"output":"a"}}}],)"
        R"(["agent_asked",1,{"messageID":"msg_1","call":{"callID":"call_1","modelID":"u",)"
        R"("tool":"acp:edit","input":{"path":"f"}}}],)"
        R"(["agent_replied",1,{}],)"
        R"(["agent_update",1,{"messageID":"msg_7","kind":"tool","toolCallID":"t",)"
        R"("status":"pending","body":{"kind":"read","input":[1]}}],)"
        R"(["agent_update",1,{"kind":"tool","toolCallID":"t","status":"failed",)"
        R"("body":{"output":true}}],)"
        R"(["agent_update",1,{"messageID":"msg_7","kind":"tool","toolCallID":"v",)"
        R"("status":"in_progress","body":{}}]])";
    commit_one(store, made);
}

TEST(SqliteStore, MessagesView_AgentToolCalls_ShowLastKnownData) {
    TestDirectory const directory;
    auto const store = open_in(directory);
    work_of_an_external_agent(*store);
    auto const calls = [&](std::string const& message) {
        return directory.text("SELECT tool_calls FROM agent_session_messages WHERE id = '" +
                              message + "'");
    };
    EXPECT_EQ(calls("msg_1"),
              R"([{"id":"t","name":"bash","input":"ls -l","output":"{\"output\":\"a\"}",)"
              R"("status":"completed"},{"id":"u","name":"acp:edit","input":{"path":"f"},)"
              R"("output":null,"status":"failed"}])");
    EXPECT_EQ(calls("msg_7"),
              R"([{"id":"t","name":"acp:read","input":[1],"output":"true","status":"failed"},)"
              R"({"id":"v","name":"acp:other","input":null,"output":null,"status":"pending"}])");
}

}  // namespace
}  // namespace dormouse::store
