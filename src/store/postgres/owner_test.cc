// One process at a time uses a schema.
#include "store/postgres/owner.h"

#include "store/postgres/testing/test_store.h"

#include <gmock/gmock.h>

namespace dormouse::store::postgres {
namespace {

using testing::HasSubstr;

class SoleStore : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) url_ = server().fresh_url();
    }
    [[nodiscard]] static PostgresOptions sole(std::string node) {
        return {.relaxed = true, .sole = true, .node = std::move(node), .version = "1.2"};
    }
    void sql(std::string const& statements) const {
        server().run("SET search_path TO " + parse_address(url_)->schema + ";" + statements);
    }
    // As if the network had ended its connections: the server ends them, and their locks.
    static void cut(std::string const& node) {
        server().run(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE application_name LIKE 'dormouse/" +
            node + "/%'");
    }

    [[nodiscard]] std::unique_ptr<PostgresStore> view() const {
        auto opened = PostgresStore::open_view(url_);
        if (!opened) {
            ADD_FAILURE() << opened.error().detail;
            std::abort();
        }
        return std::move(*opened);
    }

    std::string url_;
};

TEST_F(SoleStore, SecondProcess_IsRefusedWithTheNameOfTheFirst) {
    auto const first = open_store(url_, sole("alpha"));
    auto const second = PostgresStore::open(url_, sole("beta"));
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::wrong_state);
    EXPECT_THAT(second.error().detail, HasSubstr("in use by the process alpha of release 1.2"));
    EXPECT_THAT(second.error().detail, HasSubstr("?schema=NAME"));
    EXPECT_TRUE(first->commit(std::array{create(1, "acme")})[0]) << "nothing was changed";
    EXPECT_TRUE(first->ping());
}

TEST_F(SoleStore, OtherSchema_IsFree) {
    auto const first = open_store(url_, sole("alpha"));
    EXPECT_TRUE(PostgresStore::open(server().fresh_url(), sole("beta")));
}

TEST_F(SoleStore, AfterAnEnd_OpensUnderALargerEpochAndTheSameChain) {
    auto first = open_store(url_, sole("alpha"));
    auto const epoch = first->epoch();
    auto one = create(1, "acme");
    one.audit = {R"({"type":"a"})"};
    ASSERT_TRUE(first->commit(std::array{one})[0]);
    first.reset();
    auto const second = open_store(url_, sole("beta"));
    EXPECT_GT(second->epoch(), epoch);
    EXPECT_EQ(second->next_session_number(), 2u);
    auto two = append(1, 1);
    two.audit = {R"({"type":"a"})"};
    ASSERT_TRUE(second->commit(std::array{two})[0]);
    auto const lines = second->audit(0, 9).value();
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[1].n, 2u);
}

// The lock is lost with the connection, and another process takes over before it is taken again.
TEST_F(SoleStore, ProcessThatLostItsLock_CannotWriteAfterTheNextOne) {
    auto const first = open_store(url_, sole("alpha"));
    ASSERT_TRUE(first->commit(std::array{create(1, "acme")})[0]);
    cut("alpha");
    auto const second = open_store(url_, sole("beta"));
    auto const late = first->commit(std::array{append(1, 1)});
    ASSERT_FALSE(late[0]);
    EXPECT_EQ(late[0].error().cause, port::AppendError::Cause::fenced);
    EXPECT_EQ(code(first->ping()), Code::wrong_state);
    EXPECT_TRUE(second->ping());
    EXPECT_TRUE(second->commit(std::array{append(1, 1)})[0]);
}

TEST_F(SoleStore, LostConnection_TakesItsLockAgain) {
    auto const first = open_store(url_, sole("alpha"));
    cut("alpha");
    ASSERT_TRUE(first->ping());
    EXPECT_FALSE(PostgresStore::open(url_, sole("beta")));
    ASSERT_TRUE(first->commit(std::array{create(1, "acme")})[0]);
}

// Rows of processes that were killed, as a process left them that shared the schema.
TEST_F(SoleStore, RowsOfTheDead_AreRemoved) {
    auto first = open_store(url_, {.node = "shared"});
    ASSERT_TRUE(first->commit(std::array{create(1, "acme")})[0]);
    EXPECT_FALSE(PostgresStore::open(url_, sole("beta"))) << "it lives";
    cut("shared");
    auto const second = open_store(url_, sole("beta"));
    EXPECT_EQ(code(first->ping()), Code::wrong_state);
    EXPECT_EQ(first->commit(std::array{append(1, 1)})[0].error().cause,
              port::AppendError::Cause::fenced);
}

TEST_F(SoleStore, ProcessesThatShare_AreRefusedBesideASoleOne) {
    auto const first = open_store(url_, {.relaxed = true, .node = "gamma"});
    auto const second = open_store(url_, {.relaxed = true, .node = "delta"});
    cut("gamma");
    cut("delta");
    auto const owner = open_store(url_, sole("alpha"));
    EXPECT_EQ(code(PostgresStore::open(url_, {.relaxed = true})), Code::wrong_state);
    // First it finds that its connection is lost.
    EXPECT_EQ(code(first->beat({first->epoch()})), Code::store_unavailable);
    EXPECT_EQ(code(first->beat({first->epoch()})), Code::wrong_state);
    EXPECT_EQ(code(first->join()), Code::wrong_state);
    ASSERT_TRUE(owner->commit(std::array{create(1, "acme")})[0]);
}

class StoreView : public SoleStore {};

TEST_F(StoreView, BesideAProcess_ShowsOneMoment) {
    auto const store = open_store(url_, sole("alpha"));
    ASSERT_TRUE(store->commit(std::array{create(1, "acme")})[0]);
    auto const seen = view();
    ASSERT_TRUE(store->commit(std::array{append(1, 1), create(2, "acme")})[0]);
    EXPECT_EQ(seen->all_sessions(0, 9).value().size(), 1u);
    EXPECT_EQ(seen->load(session(1)).value().tail.size(), 1u);
    EXPECT_THAT(seen->feed_and_audit_findings().value(), testing::IsEmpty());
    EXPECT_EQ(seen->commit(std::array{append(1, 2)})[0].error().code, Code::wrong_state);
    EXPECT_EQ(code(seen->drop_delivered(at(1))), Code::wrong_state);
    EXPECT_EQ(view()->all_sessions(0, 9).value().size(), 2u);
}

TEST_F(StoreView, SchemaWithoutAStore_IsNotMade) {
    EXPECT_EQ(code(PostgresStore::open_view(url_)), Code::not_found);
    EXPECT_EQ(code(PostgresStore::open_view(url_)), Code::not_found) << "nothing was created";
    open_store(url_, sole("alpha"));
    sql("UPDATE meta SET value = 99 WHERE name IN ('format', 'write_version')");
    EXPECT_EQ(code(PostgresStore::open_view(url_)), Code::newer_format);
    sql("UPDATE meta SET value = 1 WHERE name IN ('format', 'write_version')");
    EXPECT_EQ(code(PostgresStore::open_view(url_)), Code::wrong_state);
}

// Two sessions with three appends each, and three lines of the audit.
class Findings : public SoleStore {
protected:
    void SetUp() override {
        SoleStore::SetUp();
        if (IsSkipped()) return;
        auto const store = open_store(url_, sole("alpha"));
        for (std::uint64_t const number : {1, 2})
            ASSERT_TRUE(store->commit(std::array{create(number, "acme")})[0]);
        for (Seq const head : {1, 2}) {
            auto audited = append(2, head);
            audited.audit = {R"({"type":"a"})"};
            ASSERT_TRUE(store->commit(std::array{append(1, head), audited})[0]);
        }
    }
    [[nodiscard]] std::vector<std::string> after(std::string const& change) const {
        sql(change);
        return view()->feed_and_audit_findings().value();
    }
    [[nodiscard]] static auto one(std::string const& what) {
        return testing::ElementsAre(testing::ContainsRegex(what));
    }
};

TEST_F(Findings, WholeAndTrimmedFeed_None) {
    EXPECT_THAT(after("SELECT"), testing::IsEmpty());
    EXPECT_THAT(after("DELETE FROM feed WHERE n >> 8 < 4"), testing::IsEmpty());
}

TEST_F(Findings, FeedEmptied_Named) {
    EXPECT_THAT(after("DELETE FROM feed"), one("feed: all of its rows are missing"));
}

TEST_F(Findings, FeedRowRemoved_Named) {
    EXPECT_THAT(after("DELETE FROM feed WHERE no = 1 AND first = 2"),
                one("feed: event 2 of ses_.* has no row"));
}

TEST_F(Findings, FeedRowPointsToNoSession_Named) {
    EXPECT_THAT(after("UPDATE feed SET no = 9 WHERE no = 1 AND first = 3"),
                testing::Contains(testing::ContainsRegex("names no session")));
}

TEST_F(Findings, FeedRowOfAnotherProject_Named) {
    EXPECT_THAT(after("UPDATE feed SET project = 'other' WHERE no = 1 AND first = 3"),
                one("names another project than its session ses_"));
}

// Only the feed names the newest event: its session looks complete.
TEST_F(Findings, NewestEventLost_Named) {
    EXPECT_THAT(after("DELETE FROM journal WHERE no = 1 AND first = 3"),
                one("names event 3 of ses_.*, which is missing"));
}

TEST_F(Findings, FeedRowPointsToAnEarlierEvent_Named) {
    EXPECT_THAT(after("UPDATE feed SET first = 1 WHERE no = 1 AND first = 3"),
                testing::Contains(testing::ContainsRegex("that an earlier row has passed")));
}

TEST_F(Findings, EndOfAuditLost_Named) {
    EXPECT_THAT(after("DELETE FROM audit WHERE n > 1"), one("audit: lines 2 to 2 are missing"));
}

}  // namespace
}  // namespace dormouse::store::postgres
