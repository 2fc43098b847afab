#include "runtime/stores.h"

#include "io/clock.h"
#include "store/postgres/testing/test_server.h"

#include <gmock/gmock.h>

namespace dormouse::runtime {
namespace {

using testing::HasSubstr;

class StoresOnPostgres : public store::postgres::PostgresTest {};

TEST_F(StoresOnPostgres, Url_OpensASchemaThatOneProcessUses) {
    auto const url = server().fresh_url();
    auto const first = open_store({.place = url, .release = "1.2", .relaxed = true});
    ASSERT_TRUE(first) << first.error().detail;
    EXPECT_TRUE(first->store->shared());
    EXPECT_THAT(first->warnings, testing::IsEmpty());
    auto const second = open_store({.place = url, .relaxed = true});
    ASSERT_FALSE(second);
    EXPECT_THAT(second.error().detail, HasSubstr("of release 1.2"));
}

TEST_F(StoresOnPostgres, ClockFarAhead_IsAWarning) {
    auto const now = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    auto const opened = open_store(
        {.place = server().fresh_url(), .relaxed = true, .now = now + std::chrono::minutes(3)});
    ASSERT_TRUE(opened) << opened.error().detail;
    EXPECT_THAT(opened->warnings, testing::ElementsAre(HasSubstr("ahead of the database's")));
}

TEST_F(StoresOnPostgres, SharedDatabase_ItsClockIsMeasured) {
    auto const url = server().fresh_url();
    auto const before = io::boot_time();
    auto const opened = open_store({.place = url, .relaxed = true, .shared = true});
    ASSERT_TRUE(opened) << opened.error().detail;
    ASSERT_TRUE(opened->clock_at_boot);
    auto const clock = opened->shared->beat({opened->store->epoch()}).value().clock;
    EXPECT_LE(*opened->clock_at_boot + before, clock);
    EXPECT_GE(*opened->clock_at_boot + io::boot_time(), clock - Duration(1'000));
    auto const alone = open_store({.place = server().fresh_url(), .relaxed = true});
    ASSERT_TRUE(alone) << alone.error().detail;
    EXPECT_FALSE(alone->clock_at_boot);
}

TEST_F(StoresOnPostgres, ServerThatLosesResults_IsRefused) {
    auto const opened = open_store({.place = server().fresh_url()});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::wrong_state);
    EXPECT_THAT(opened.error().detail, HasSubstr("fsync = off"));
}

TEST(Stores, UnknownScheme_IsRefused) {
    auto const opened = open_store({.place = "mysql://ann:geheim@db/work"});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::bad_value);
    EXPECT_THAT(opened.error().detail, testing::Not(HasSubstr("geheim")));
}

TEST(Stores, ShownPlace_HasNoPassword) {
    EXPECT_EQ(shown_place("/var/lib/x"), "/var/lib/x");
    EXPECT_EQ(shown_place("postgres://ann:geheim@db/work"), "postgres://db/work?schema=dormouse");
    EXPECT_EQ(shown_place("postgres://ann:geheim@[::1/work"), "postgres");
    EXPECT_TRUE(is_database("postgresql://db/work"));
    EXPECT_FALSE(is_database("postgres"));
    EXPECT_FALSE(check_database("postgres://db/x?nonsense=1"));
}

}  // namespace
}  // namespace dormouse::runtime
