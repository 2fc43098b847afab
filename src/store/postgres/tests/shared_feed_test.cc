// The feed of several writers. conformance_shared_fixture.h has many writers and readers.
#include "store/postgres/testing/test_store.h"

#include <gmock/gmock.h>

namespace dormouse::store::postgres {
namespace {

using std::chrono::seconds;

std::vector<std::string> rows_of(port::Store& store, std::uint64_t& after) {
    std::vector<std::string> out;
    auto const page = store.feed("acme", after, 1'000'000).value();
    for (auto const& row : page.rows)
        out.push_back(std::to_string(row.session.number()) + "/" + std::to_string(row.frame.first));
    after = page.next;
    return out;
}

class SharedFeed : public SharedStores {};

TEST_F(SharedFeed, LaterAppend_HasTheLargerNumber) {
    write(*a_, create(1, "acme"));
    write(*b_, create(2, "acme"));
    write(*a_, append(2, 1));
    write(*b_, append(1, 1));
    for (auto* const store : {a_.get(), b_.get()}) {
        std::uint64_t after = 0;
        EXPECT_THAT(rows_of(*store, after), testing::ElementsAre("1/1", "2/1", "2/2", "1/2"));
        EXPECT_EQ(after, store->feed_head().value());
    }
}

// A writer in a call: its entries may become visible after those of others.
TEST_F(SharedFeed, EntriesAboveAWriterInACall_AreWithheld) {
    write(*a_, create(1, "acme"));
    std::uint64_t after = 0;
    ASSERT_THAT(rows_of(*b_, after), testing::ElementsAre("1/1"));
    auto slow = in_schema();
    ASSERT_TRUE(slow.script("BEGIN", seconds(5)));
    ASSERT_TRUE(
        slow.script("SELECT pg_advisory_xact_lock('writers'::regclass::oid::int, "
                    "(SELECT slot::int FROM writers WHERE epoch = " +
                        std::to_string(a_->epoch()) + "))",
                    seconds(5)));
    // As append_1() does: a number above all that are committed now.
    ASSERT_TRUE(
        slow.script("INSERT INTO feed(n, no, first, erased, project) SELECT"
                    " ((SELECT max(n) >> 8 FROM writers) + 1) << 8 | slot, 1, 1, false,"
                    " 'acme' FROM writers WHERE epoch = " +
                        std::to_string(a_->epoch()),
                    seconds(5)));
    write(*b_, create(2, "acme"));
    write(*b_, append(2, 1));
    auto place = after;
    EXPECT_THAT(rows_of(*b_, place), testing::IsEmpty());
    EXPECT_EQ(place, after);
    EXPECT_EQ(b_->feed_head().value(), after);
    ASSERT_TRUE(slow.script("COMMIT", seconds(5)));
    EXPECT_THAT(rows_of(*b_, place), testing::ElementsAre("1/1", "2/1", "2/2"));
}

// A writer whose newest number is small withholds what readers have seen before.
TEST_F(SharedFeed, LimitOfReaders_DoesNotFallWhileAnIdleWriterBeginsACall) {
    write(*b_, create(2, "acme"));
    write(*a_, create(1, "acme"));
    write(*a_, append(1, 1));
    std::uint64_t after = 0;
    ASSERT_THAT(rows_of(*b_, after), testing::SizeIs(3));
    auto slow = in_schema();
    ASSERT_TRUE(slow.script("BEGIN", seconds(5)));
    ASSERT_TRUE(
        slow.script("SELECT pg_advisory_xact_lock('writers'::regclass::oid::int, "
                    "(SELECT slot::int FROM writers WHERE epoch = " +
                        std::to_string(b_->epoch()) + "))",
                    seconds(5)));
    EXPECT_LT(a_->feed_head().value(), after);
    EXPECT_GE(a_->feed_limit().value(), after);
    auto place = after;
    EXPECT_THAT(rows_of(*a_, place), testing::IsEmpty());
    EXPECT_EQ(place, after);
    ASSERT_TRUE(slow.script("COMMIT", seconds(5)));
    EXPECT_EQ(a_->feed_head().value(), after);
    EXPECT_EQ(a_->feed_limit().value(), after);
}

// The entries of the former primary that the standby lacks have numbers that readers know: entries
// with the same numbers would be passed over.
TEST_F(SharedFeed, PromotedStandbyWithoutTheNewestEntries_GivesLargerNumbers) {
    write(*a_, create(1, "acme"));
    write(*b_, create(2, "acme"));
    write(*a_, append(2, 1));
    std::uint64_t after = 0;
    ASSERT_THAT(rows_of(*b_, after), testing::ElementsAre("1/1", "2/1", "2/2"));
    // The newest append is lost, and the history of the database another one.
    sql("DELETE FROM journal WHERE no = 2 AND first = 2;"
        "DELETE FROM feed WHERE first = 2;"
        "UPDATE sessions s SET head = 1, stamp = (SELECT sum FROM journal j WHERE j.no = 2)"
        "  WHERE s.no = 2;"
        "UPDATE writers SET n = (SELECT max(n) FROM feed);"
        "UPDATE meta SET value = value + 1 WHERE name = 'timeline';"
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        "  WHERE application_name LIKE 'dormouse/%'");
    auto place = after;
    write(*a_, append(2, 1));
    write(*b_, append(1, 1));
    EXPECT_THAT(rows_of(*a_, place), testing::ElementsAre("2/2", "1/2"));
    auto const timeline = number("SELECT value FROM meta WHERE name = 'timeline'");
    auto const head = number("SELECT max(n) >> 8 FROM writers");
    EXPECT_GT(head, static_cast<std::int64_t>(after >> 8U) + 100'000);
    EXPECT_LT(head, 200'000) << "raised once, though both connected again";
    EXPECT_EQ(timeline,
              static_cast<std::int64_t>(a_->feed(port::Projects::all(), 0, 1).value().history));
    EXPECT_EQ(timeline, number("SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))"
                               "::bit(32)::bigint"));
}

}  // namespace
}  // namespace dormouse::store::postgres
