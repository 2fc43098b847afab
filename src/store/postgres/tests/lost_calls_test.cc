// Calls whose connection is lost: each is made exactly once, and nobody notices.
#include "store/postgres/testing/test_proxy.h"
#include "store/postgres/testing/test_store.h"

#include <gmock/gmock.h>

namespace dormouse::store::postgres {
namespace {

class LostCalls : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped()) return;
        auto const url = server().fresh_url();
        proxy_ = std::make_unique<TestProxy>(server().port());
        schema_ = parse_address(url)->schema;
        store_ = open_store("postgres://postgres@127.0.0.1:" + std::to_string(proxy_->port()) +
                                "/postgres?schema=" + schema_,
                            {.call_wait = std::chrono::seconds(20)});
    }
    // Appends in session 1, and its audit line.
    [[nodiscard]] port::AppendResult next() {
        auto one = head_ == 0 ? create(1, "acme") : append(1, head_);
        one.audit = {"line " + std::to_string(head_ + 1)};
        auto result = store_->commit({&one, 1})[0];
        if (result) ++head_;
        return result;
    }
    [[nodiscard]] static std::int64_t writer_pid() {
        auto connection = server().connect(server().url());
        Call const call{
            "SELECT max(pid) FROM pg_stat_activity"
            " WHERE application_name = 'dormouse/node/writer'"};
        return connection.run(call, std::chrono::seconds(5)).value().integer(0, 0);
    }
    void expect_lost(port::LostCommits const& expected) {
        auto const lost = store_->lost_commits();
        EXPECT_EQ(lost.committed, expected.committed);
        EXPECT_EQ(lost.not_committed, expected.not_committed);
        EXPECT_EQ(lost.unknown, expected.unknown);
    }
    void expect_no_gap_and_no_double() {
        EXPECT_EQ(store_->load(session(1)).value().tail.size(), head_);
        auto const lines = store_->audit(0, 1'000).value();
        ASSERT_EQ(lines.size(), head_);
        for (Seq i = 0; i < head_; ++i) EXPECT_EQ(lines[i].line, "line " + std::to_string(i + 1));
        EXPECT_EQ(store_->feed("acme", 0, 1'000'000).value().rows.size(), head_);
    }

    std::string schema_;
    std::unique_ptr<TestProxy> proxy_;
    std::unique_ptr<PostgresStore> store_;
    Seq head_ = 0;
};

TEST_F(LostCalls, LostReplies_AreResolved) {
    ASSERT_TRUE(next());  // a new connection first looks for a promotion
    for (int i = 0; i < 30; ++i) {
        proxy_->inject(Fault::lose_reply);
        auto const result = next();
        ASSERT_TRUE(result) << result.error().detail;
    }
    EXPECT_EQ(proxy_->faults(), 30);
    expect_lost({.committed = 30});
    expect_no_gap_and_no_double();
}

TEST_F(LostCalls, LostRequests_AreSentAgain) {
    ASSERT_TRUE(next());
    for (int i = 0; i < 30; ++i) {
        proxy_->inject(Fault::lose_request);
        auto const result = next();
        ASSERT_TRUE(result) << result.error().detail;
    }
    EXPECT_EQ(proxy_->faults(), 30);
    expect_lost({.not_committed = 30});
    expect_no_gap_and_no_double();
}

TEST_F(LostCalls, RequestThatArrivesLate_ChangesNothing) {
    for (int i = 0; i < 5; ++i) {
        proxy_->inject(Fault::late_request);
        auto const result = next();
        ASSERT_TRUE(result) << result.error().detail;
        proxy_->release();
    }
    expect_no_gap_and_no_double();
    proxy_->inject(Fault::late_request);
    ASSERT_TRUE(store_->change_tokens({.audit = "line 6"}));
    proxy_->release();
    EXPECT_EQ(store_->audit(0, 100).value().size(), 6u) << "the line was added once";
}

TEST_F(LostCalls, RefusedAppend_LostReply_IsStillRefused) {
    ASSERT_TRUE(next());
    proxy_->inject(Fault::lose_reply);
    std::vector<port::Append> const batch{append(1, 7), create(2, "acme")};
    auto const results = store_->commit(batch);
    EXPECT_TRUE(moved(results[0]));
    EXPECT_TRUE(results[1]);
    EXPECT_EQ(proxy_->faults(), 1);
}

TEST_F(LostCalls, Reader_AsksAgain) {
    ASSERT_TRUE(next());
    for (auto const fault : {Fault::lose_reply, Fault::lose_request}) {
        proxy_->inject(fault);
        EXPECT_EQ(store_->load(session(1)).value().tail.size(), 1u);
    }
    EXPECT_EQ(proxy_->faults(), 2);
}

TEST_F(LostCalls, TerminatedBackends_AreReplaced) {
    for (int i = 0; i < 10; ++i) {
        server().run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name LIKE 'dormouse/%'");
        auto const result = next();
        ASSERT_TRUE(result) << result.error().detail;
    }
    expect_no_gap_and_no_double();
}

// A wait for a standby that was cancelled is a warning after the local commit.
TEST_F(LostCalls, WarningAtTheEnd_IsUnknownAndResolved) {
    ASSERT_TRUE(next());
    server().run("SET search_path TO " + schema_ +
                 "; CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                 " IF (SELECT count(*) FROM journal) = 2 THEN RAISE WARNING 'committed locally';"
                 " END IF; RETURN NULL; END $$;"
                 "CREATE TRIGGER warns AFTER INSERT ON journal EXECUTE FUNCTION warn()");
    auto const before = writer_pid();
    ASSERT_TRUE(next());
    EXPECT_NE(writer_pid(), before) << "the connection was closed";
    ASSERT_TRUE(next());
    expect_no_gap_and_no_double();
}

TEST_F(LostCalls, ErrorsThatPass_AreRepeatedThreeTimes) {
    ASSERT_TRUE(next());
    server().run("SET search_path TO " + schema_ +
                 "; CREATE SEQUENCE tries; CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql"
                 " AS $$ BEGIN IF nextval('tries') % 4 <> 0 THEN RAISE EXCEPTION 'again'"
                 " USING ERRCODE = '40001'; END IF; RETURN NULL; END $$;"
                 "CREATE TRIGGER fails AFTER INSERT ON journal EXECUTE FUNCTION fails()");
    auto const result = next();
    ASSERT_TRUE(result) << result.error().detail;
    server().run("ALTER SEQUENCE " + schema_ + ".tries INCREMENT BY 4");  // none succeeds
    server().run("SELECT setval('" + schema_ + ".tries', 1)");
    EXPECT_EQ(code(next()), Code::store_unavailable);
    expect_no_gap_and_no_double();
}

TEST_F(LostCalls, NoServer_IsUnavailableAndPasses) {
    ASSERT_TRUE(next());
    auto const port = proxy_->port();
    proxy_.reset();
    auto const result = next();
    EXPECT_EQ(code(result), Code::store_unavailable);
    EXPECT_FALSE(moved(result));
    EXPECT_EQ(code(store_->ping()), Code::store_unavailable);
    expect_lost({.unknown = 1});
    proxy_ = std::make_unique<TestProxy>(server().port(), port);
    ASSERT_TRUE(next());
    EXPECT_TRUE(store_->ping());
    expect_no_gap_and_no_double();
}

}  // namespace
}  // namespace dormouse::store::postgres
