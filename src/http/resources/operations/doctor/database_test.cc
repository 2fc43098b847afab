#include "http/resources/operations/doctor/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using ::testing::HasSubstr;

port::DatabaseStatus database(std::string synchronous = "") {
    return {.version = "15.4",
            .synchronous_commit = "on",
            .synchronous_standbys = std::move(synchronous)};
}

port::DatabaseStatus with_standby(port::DatabaseStatus status, std::string const& sync) {
    status.standbys.push_back({"pg2", "streaming", sync, 0});
    ++status.standby_count;
    return status;
}

TEST(DatabaseGuarantee, NoStandby_DependsOnOneDisk) {
    EXPECT_THAT(guarantee_of(database()), HasSubstr("lost with its disk"));
    EXPECT_FALSE(database_concern(database()));
}

TEST(DatabaseGuarantee, AsynchronousStandby_CanLoseTheNewest) {
    auto status = with_standby(database(), "async");
    EXPECT_THAT(guarantee_of(status), HasSubstr("commits do not wait for it"));
    status = with_standby(database("*"), "sync");
    status.synchronous_commit = "local";
    EXPECT_THAT(guarantee_of(status), HasSubstr("commits do not wait for it"));
}

TEST(DatabaseGuarantee, SynchronousStandby_LosesNothing) {
    EXPECT_EQ(guarantee_of(with_standby(database("*"), "sync")),
              "the promotion of a synchronous standby loses no acknowledged result");
    EXPECT_THAT(guarantee_of(with_standby(database("ANY 1 (*)"), "quorum")),
                HasSubstr("the standby that has most of the log"));
    auto status = with_standby(database("*"), "sync");
    status.synchronous_commit = "remote_write";
    EXPECT_THAT(guarantee_of(status), HasSubstr("unless both machines crash"));
}

TEST(DatabaseGuarantee, SynchronousStandbyIsAway_IsAConcern) {
    for (auto const& status : {database("*"), with_standby(database("pg3"), "async")}) {
        EXPECT_THAT(guarantee_of(status),
                    HasSubstr("until more synchronous standbys are connected"));
        ASSERT_TRUE(database_concern(status));
        EXPECT_EQ(database_concern(status)->about, "database");
    }
}

TEST(DatabaseGuarantee, FewerThanCommitsWaitFor_IsAConcern) {
    for (auto const* names : {"FIRST 2 (a, b)", "ANY 2 (*)", "2 (a, b)"}) {
        auto status = with_standby(database(names), "sync");
        EXPECT_TRUE(database_concern(status)) << names;
        status = with_standby(std::move(status), "sync");
        EXPECT_FALSE(database_concern(status)) << names;
    }
    EXPECT_FALSE(database_concern(with_standby(database("pg2, pg3"), "sync")));
    EXPECT_FALSE(database_concern(with_standby(database("FIRST 1 (pg2)"), "sync")));
}

TEST(DatabaseGuarantee, StandbysThatCannotBeRead_AreNoConcern) {
    auto status = database("*");
    status.standby_count = 1;
    status.standbys_hidden = "not allowed";
    EXPECT_FALSE(database_concern(status));
    EXPECT_THAT(guarantee_of(status), HasSubstr("loses no acknowledged result"));
}

TEST(DatabaseGuarantee, SettingsThatLoseResults_AreNamed) {
    auto status = database();
    status.fsync = false;
    EXPECT_THAT(guarantee_of(status), HasSubstr("can lose the newest acknowledged results"));
    status = with_standby(database("*"), "sync");
    status.synchronous_commit = "off";
    EXPECT_THAT(guarantee_of(status), HasSubstr("can lose the newest acknowledged results"));
}

TEST(DatabaseGuarantee, Standby_TakesNoWrites) {
    auto status = database();
    status.primary = false;
    EXPECT_THAT(guarantee_of(status), HasSubstr("takes no writes"));
}

}  // namespace
}  // namespace dormouse::http
