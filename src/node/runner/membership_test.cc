#include "runner/membership.h"

#include <gtest/gtest.h>

namespace dormouse::runner {
namespace {

using Node = Membership::Node;

// Process 5 looks at itself and at others, once a second.
class MembershipTest : public ::testing::Test {
protected:
    // A heartbeat whose answer takes 10 ms. Returns the epochs to remove.
    std::vector<Epoch> beat(std::vector<Node> const& table) {
        std::vector<Epoch> out;
        for (Node const& one : members.arrived(5, now, now + Duration(10), table))
            out.push_back(one.epoch);
        now += Duration(1'000);
        return out;
    }

    Membership members;
    Duration now{70'000};
};

TEST_F(MembershipTest, SilentProcess_IsRemovedAfterFiveSeconds) {
    for (std::uint64_t own = 1; own <= 5; ++own)
        EXPECT_EQ(beat({{4, 9}, {5, own}}), std::vector<Epoch>{}) << own;
    EXPECT_EQ(beat({{4, 9}, {5, 6}}), std::vector<Epoch>{4});
    EXPECT_FALSE(members.gone(4)) << "its counter may have changed";
    EXPECT_FALSE(members.has_share(5, 0) && members.has_share(5, 1));
    members.removed(4);
    EXPECT_TRUE(members.gone(4));
    EXPECT_TRUE(members.has_share(5, 0) && members.has_share(5, 1));
}

TEST_F(MembershipTest, CounterThatChanges_KeepsItsProcess) {
    for (std::uint64_t own = 1; own <= 20; ++own)
        EXPECT_EQ(beat({{4, own / 4}, {5, own}}), std::vector<Epoch>{}) << own;
}

TEST_F(MembershipTest, GapInOwnHeartbeats_NobodyIsRemovedForIt) {
    for (std::uint64_t own = 1; own <= 4; ++own) EXPECT_TRUE(beat({{4, 9}, {5, own}}).empty());
    now += Duration(60'000);  // the database was away
    for (std::uint64_t own = 5; own <= 9; ++own)
        EXPECT_EQ(beat({{4, 9}, {5, own}}), std::vector<Epoch>{}) << own;
    EXPECT_EQ(beat({{4, 9}, {5, 10}}), std::vector<Epoch>{4});
}

TEST_F(MembershipTest, Start_OnlySoonAfterAHeartbeatWasSent) {
    EXPECT_FALSE(members.may_start(now));
    auto const sent = now;
    beat({{5, 1}});
    EXPECT_TRUE(members.may_start(sent + Duration(3'999)));
    EXPECT_FALSE(members.may_start(sent + Duration(4'000)));
    members.fenced();
    EXPECT_FALSE(members.may_start(sent + Duration(1)));
}

TEST_F(MembershipTest, ProcessThatJoinedLater_IsNotGone) {
    beat({{4, 1}, {5, 1}});
    EXPECT_FALSE(members.gone(4));
    EXPECT_TRUE(members.gone(3)) << "an earlier one that is not in the table";
    EXPECT_FALSE(members.gone(6));
    beat({{5, 2}, {6, 1}});
    EXPECT_TRUE(members.gone(4));
    beat({{5, 3}});
    EXPECT_TRUE(members.gone(6));
}

// It may hold a question of a session that this process has read before the heartbeat.
TEST_F(MembershipTest, ProcessThatJoinedLater_WorksUnlessAHeartbeatShowsOtherwise) {
    beat({{4, 1}, {5, 1}});
    EXPECT_TRUE(members.works(6));
    EXPECT_FALSE(members.works(3)) << "an earlier one that is not in the table";
    beat({{4, 2}, {5, 2}});
    EXPECT_TRUE(members.works(6)) << "the heartbeat may have been sent before the question";
    beat({{4, 3}, {5, 3}, {6, 1}});
    EXPECT_TRUE(members.works(6));
    beat({{4, 4}, {5, 4}});
    EXPECT_FALSE(members.works(6));
}

TEST_F(MembershipTest, EpochThatNoTableHas_SoonCountsAsForeign) {
    beat({{5, 1}});
    EXPECT_TRUE(members.works(1'000));
    beat({{5, 2}});
    beat({{5, 3}});
    EXPECT_FALSE(members.works(1'000));
    beat({{5, 4}, {1'000, 1}});
    EXPECT_TRUE(members.works(1'000)) << "it has joined now";
}

TEST_F(MembershipTest, Rejoined_BeginsToWatchAgain) {
    for (std::uint64_t own = 1; own <= 5; ++own) beat({{4, 9}, {5, own}});
    members.rejoined();
    EXPECT_FALSE(members.may_start(now));
    EXPECT_TRUE(beat({{4, 9}, {5, 6}}).empty());
}

TEST_F(MembershipTest, Shares_CoverEachNumberOnce) {
    beat({{9, 1}, {4, 1, true}, {5, 1}, {7, 1}});
    for (std::uint64_t number = 0; number < 100; ++number) {
        int const shares = static_cast<int>(members.has_share(5, number)) +
                           static_cast<int>(members.has_share(7, number)) +
                           static_cast<int>(members.has_share(9, number));
        EXPECT_EQ(shares, 1) << number;
        EXPECT_FALSE(members.has_share(4, number)) << "it ends";
    }
}

TEST_F(MembershipTest, Leader_IsTheOldestProcess) {
    EXPECT_TRUE(members.leads(5)) << "nobody else is known";
    beat({{5, 1}, {7, 1}});
    EXPECT_TRUE(members.leads(5));
    EXPECT_FALSE(members.leads(7));
}

}  // namespace
}  // namespace dormouse::runner
