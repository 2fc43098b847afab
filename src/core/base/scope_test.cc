#include "base/scope.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <vector>

namespace dormouse {
namespace {

TEST(Scope, CallbackOfLivingOwner_Runs) {
    Scope scope;
    int runs = 0;
    auto callback = scope.guard([&] { ++runs; });
    callback();
    callback();
    EXPECT_EQ(runs, 2);
}

TEST(Scope, CallbackAfterEndOfOwner_DoesNothing) {
    int runs = 0;
    std::function<void()> callback;
    {
        Scope scope;
        callback = scope.guard([&] { ++runs; });
    }
    callback();
    EXPECT_EQ(runs, 0);
}

TEST(Scope, MoveOnlyCallback_GetsItsArguments) {
    Scope scope;
    int sum = 0;
    std::move_only_function<void(std::unique_ptr<int>, int const&)> callback =
        scope.guard([&, held = std::make_unique<int>(1)](std::unique_ptr<int> const& a,
                                                         int b) mutable { sum = *held + *a + b; });
    callback(std::make_unique<int>(2), 3);
    EXPECT_EQ(sum, 6);
}

TEST(Scope, End_EndsWhatWasGuardedBefore) {
    Scope scope;
    std::vector<int> runs;
    auto before = scope.guard([&] { runs.push_back(1); });
    scope.end();
    auto after = scope.guard([&] { runs.push_back(2); });
    before();
    after();
    EXPECT_EQ(runs, std::vector{2});
}

TEST(Scope, OwnerEndsInItsCallback_TokenTellsIt) {
    std::optional<Scope> scope(std::in_place);
    bool before = false;
    bool after = true;
    auto callback = scope->guard([&, alive = scope->token()] {
        before = static_cast<bool>(alive);
        scope.reset();
        after = static_cast<bool>(alive);
    });
    callback();
    EXPECT_TRUE(before);
    EXPECT_FALSE(after);
}

TEST(Scope, CallbackWithResult_DoesNotCompile) {
    Scope scope;
    auto returns = scope.guard([] { return 1; });
    auto returns_nothing = scope.guard([] {});
    static_assert(!std::is_invocable_v<decltype(returns)&>);
    static_assert(std::is_invocable_v<decltype(returns_nothing)&>);
}

TEST(Scope, WhatACallbackHolds_GoesWithTheCallback) {
    auto const held = std::make_shared<int>(1);
    {
        Scope scope;
        auto const callback = scope.guard([held] {});
        scope.end();
        EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace dormouse
