#include "store/memory/conformance_fixture.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace dormouse::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Two sessions with three appends each, and three lines of the audit.
class Findings : public testing::Test {
protected:
    Findings() {
        auto const store = open();
        for (std::uint64_t const number : {1, 2}) commit(*store, create(number, "acme"));
        for (Seq const head : {1, 2}) {
            commit(*store, append(1, head));
            auto audited = append(2, head);
            audited.audit = {R"({"type":"a"})"};
            commit(*store, audited);
        }
        auto third = append(1, 3);
        third.audit = {R"({"type":"a"})"};
        commit(*store, third);
    }

    std::unique_ptr<SqliteStore> open() const {
        auto opened = SqliteStore::open(directory.path());
        EXPECT_TRUE(opened) << opened.error().detail;
        return std::move(opened.value());
    }
    static void commit(SqliteStore& store, port::Append const& one) {
        auto const results = store.commit({&one, 1});
        ASSERT_TRUE(results[0]) << results[0].error().detail;
    }
    std::vector<std::string> after(std::string const& sql) const {
        directory.run(sql);
        return open()->feed_and_audit_findings().value();
    }

    TestDirectory directory;
};

TEST_F(Findings, WholeStore_None) {
    EXPECT_THAT(open()->feed_and_audit_findings().value(), IsEmpty());
}

TEST_F(Findings, FeedEmptied_Named) {
    EXPECT_THAT(after("DELETE FROM feed"), ElementsAre("feed: all of its rows are missing"));
}

TEST_F(Findings, FeedTrimmedAtItsBeginning_None) {
    EXPECT_THAT(after("DELETE FROM feed WHERE n < 4"), IsEmpty());
}

TEST_F(Findings, FeedRowRemoved_Named) {
    EXPECT_THAT(after("DELETE FROM feed WHERE n = 4"), ElementsAre("feed: row 4 is missing"));
}

TEST_F(Findings, FeedRowPointsToAnotherEvent_Named) {
    EXPECT_THAT(after("UPDATE feed SET k = (SELECT k FROM feed WHERE n = 1) WHERE n = 7"),
                ElementsAre("feed: row 7 names an event that an earlier row has passed"));
}

TEST_F(Findings, FeedRowPointsToNoSession_Named) {
    EXPECT_THAT(after("UPDATE feed SET k = 9 << 24 | 1 WHERE n = 4"),
                ElementsAre("feed: row 4 names no session"));
}

TEST_F(Findings, FeedRowOfAnotherProject_Named) {
    EXPECT_THAT(after("INSERT INTO names(id, name) VALUES(99, 'other'); UPDATE feed SET project = "
                      "99 WHERE n = 4"),
                ElementsAre(HasSubstr("feed: row 4 names another project than its session ses_")));
}

// Only the feed names the newest event: its session looks complete.
TEST_F(Findings, NewestEventLost_Named) {
    EXPECT_THAT(after("DELETE FROM journal WHERE k = 1 << 24 | 4"),
                ElementsAre(testing::MatchesRegex(
                    "feed: row 7 names event 4 of ses_.*, which is missing")));
}

TEST_F(Findings, DeletedSession_None) {
    {
        auto const store = open();
        auto erase = append(2, 3);
        erase.erase = true;
        commit(*store, erase);
    }
    EXPECT_THAT(open()->feed_and_audit_findings().value(), IsEmpty());
}

TEST_F(Findings, EndOfAuditLost_ReportedAndLeavesAGap) {
    EXPECT_THAT(after("DELETE FROM audit WHERE n > 1"),
                ElementsAre("audit: lines 2 to 3 are missing"));
    {
        auto const store = open();
        auto next = append(1, 4);
        next.audit = {R"({"type":"a"})"};
        commit(*store, next);
    }
    auto const lines = open()->audit(0, 10).value();
    ASSERT_THAT(lines, SizeIs(2));
    EXPECT_EQ(lines[1].n, 4U) << "verify reports line 2 also after later lines";
}

TEST_F(Findings, AuditEmptied_Named) {
    EXPECT_THAT(after("DELETE FROM audit"), ElementsAre("audit: lines 1 to 3 are missing"));
}

TEST_F(Findings, TrimmedAudit_None) {
    {
        auto const store = open();
        ASSERT_TRUE(store->trim_audit(3, R"({"type":"audit_trimmed"})"));
    }
    EXPECT_THAT(open()->feed_and_audit_findings().value(), IsEmpty());
}

}  // namespace
}  // namespace dormouse::store
