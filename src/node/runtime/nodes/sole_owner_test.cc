#include "runtime/nodes/sole_owner.h"

#include "runner/testing/world.h"

#include <gtest/gtest.h>

namespace dormouse::runtime {
namespace {

using runner::testing::TestLoop;

class SoleOwnerTest : public testing::Test {
protected:
    void answer(Result<void> const& result) {
        auto waiting = std::exchange(requests_, {});
        ASSERT_EQ(waiting.size(), 1u);
        waiting[0](result);
        loop_.run();
    }
    void pass(Duration time) {
        now_ += time;
        loop_.advance(time);
    }
    static Result<void> taken() { return fail(Code::wrong_state, "taken"); }
    static Result<void> unreachable() { return fail(Code::store_unavailable, "gone"); }

    TestLoop loop_;
    Duration now_{50'000};  // since the machine started
    std::vector<std::function<void(Result<void>)>> requests_;
    int lost_ = 0;
    SoleOwner owner_{loop_, 7, [this](auto done) { requests_.push_back(std::move(done)); },
                     [this] { return now_; }};
};

TEST_F(SoleOwnerTest, LocalStore_IsNeverAsked) {
    SoleOwner local(loop_, 3, {});
    local.start([this] { ++lost_; });
    pass(Duration(60'000));
    EXPECT_TRUE(local.alone());
    EXPECT_TRUE(local.may_start());
    EXPECT_TRUE(local.gone(2));
    EXPECT_FALSE(local.gone(3));
    EXPECT_EQ(lost_, 0);
}

TEST_F(SoleOwnerTest, RestoredCopy_StartsNothingUntilRelease) {
    SoleOwner local(loop_, 3, {});
    local.hold();
    local.start([this] { ++lost_; });
    EXPECT_TRUE(local.held());
    EXPECT_FALSE(local.may_start());
    EXPECT_FALSE(local.leads());
    local.release();
    EXPECT_FALSE(local.held());
    EXPECT_TRUE(local.may_start());
    EXPECT_TRUE(local.leads());
}

TEST_F(SoleOwnerTest, GoodAnswers_AllowEffectsAndAreAskedForAgain) {
    EXPECT_FALSE(owner_.may_start()) << "not started";
    owner_.start([this] { ++lost_; });
    EXPECT_FALSE(owner_.alone());
    for (int times = 0; times < 3; ++times) {
        answer({});
        EXPECT_TRUE(owner_.may_start());
        pass(Duration(999));
        EXPECT_TRUE(requests_.empty());
        pass(Duration(1));
    }
    EXPECT_EQ(lost_, 0);
}

TEST_F(SoleOwnerTest, WithoutAGoodAnswer_EffectsDoNotStart) {
    owner_.start([this] { ++lost_; });
    pass(Duration(3'999));
    EXPECT_TRUE(owner_.may_start());
    pass(Duration(1));
    EXPECT_FALSE(owner_.may_start());
    answer({});
    EXPECT_FALSE(owner_.may_start()) << "the question was sent 4 s ago";
    pass(Duration(1'000));
    answer(unreachable());
    EXPECT_FALSE(owner_.may_start());
    pass(Duration(1'000));
    answer({});
    EXPECT_TRUE(owner_.may_start());
    EXPECT_EQ(lost_, 0);
}

TEST_F(SoleOwnerTest, StoreTakenOver_IsReportedOnce) {
    owner_.start([this] { ++lost_; });
    auto const permission = owner_.start_permission();
    EXPECT_TRUE(permission());
    owner_.rejoin([] { FAIL() << "it takes no part again"; });
    EXPECT_EQ(lost_, 1);
    EXPECT_FALSE(permission());
    answer(taken());
    EXPECT_EQ(lost_, 1);
    pass(Duration(60'000));
    EXPECT_TRUE(requests_.empty());
}

}  // namespace
}  // namespace dormouse::runtime
