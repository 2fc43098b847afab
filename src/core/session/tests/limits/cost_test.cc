#include "session/budget/cost.h"

#include <gtest/gtest.h>

#include <limits>

namespace dormouse::session {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t dollar = 1'000'000;

Prices prices() { return {"USD", 3 * dollar, 15 * dollar, dollar * 3 / 10, dollar * 15 / 4}; }

TEST(CostOf, EachKindOfToken_HasItsOwnPrice) {
    EXPECT_EQ(cost_of({.input_tokens = 1'000'000}, prices()), 3 * dollar);
    EXPECT_EQ(cost_of({.output_tokens = 1'000'000}, prices()), 15 * dollar);
    EXPECT_EQ(cost_of({.input_tokens = 1'000'000, .cached_tokens = 1'000'000}, prices()),
              dollar * 3 / 10);
    EXPECT_EQ(cost_of({.input_tokens = 1'000'000, .cache_written_tokens = 1'000'000}, prices()),
              dollar * 15 / 4);
}

TEST(CostOf, CachedTokens_AreNotPaidAsInputToo) {
    Usage const usage{.input_tokens = 1'000, .cached_tokens = 600, .cache_written_tokens = 300};
    EXPECT_EQ(cost_of(usage, prices()), (100 * 3'000 + 600 * 300 + 300 * 3'750) / 1'000);
}

TEST(CostOf, ReasoningTokens_AreNotPaidAsOutputTwice) {
    EXPECT_EQ(cost_of({.output_tokens = 100, .reasoning_tokens = 80}, prices()), 1'500);
}

TEST(CostOf, FractionsOfMillionths_AreRoundedOnce) {
    Prices const cheap{"USD", dollar / 4, dollar / 4, 0, 0};
    EXPECT_EQ(cost_of({.input_tokens = 1}, cheap), 0);
    EXPECT_EQ(cost_of({.input_tokens = 1, .output_tokens = 1}, cheap), 1);
}

TEST(CostOf, WrongCounts_StayInBounds) {
    EXPECT_EQ(cost_of({.input_tokens = 10, .cached_tokens = most, .cache_written_tokens = most},
                      prices()),
              3);
    EXPECT_EQ(cost_of({.input_tokens = 10, .output_tokens = -5, .cached_tokens = -5}, prices()),
              30);
}

TEST(CostOf, NoTokensCounted_HasNoCost) {
    EXPECT_EQ(cost_of({}, prices()), std::nullopt);
    EXPECT_EQ(cost_of({.input_tokens = -5, .output_tokens = -5}, prices()), std::nullopt);
}

TEST(CostOf, Overflow_HasNoCost) {
    EXPECT_EQ(cost_of({.input_tokens = most}, prices()), std::nullopt);
    std::int64_t const half = most / (15 * dollar);
    EXPECT_EQ(cost_of({.input_tokens = most / (3 * dollar), .output_tokens = half}, prices()),
              std::nullopt);
}

TEST(SumOfUsage, Costs_AreAddedByCurrency) {
    Usage const a{.input_tokens = 1, .cost = {{"USD", 5}}};
    Usage const b{.input_tokens = 2, .cost = {{"EUR", 7}, {"USD", 1}}};
    EXPECT_EQ(sum(a, b), (Usage{.input_tokens = 3, .cost = {{"EUR", 7}, {"USD", 6}}}));
    EXPECT_TRUE(sum({.input_tokens = 1}, {.input_tokens = 1}).cost.empty()) << "unknown, not 0";
}

TEST(SumOfUsage, Overflow_StaysAtTheLargestNumber) {
    Usage const large{.output_tokens = most, .cost = {{"USD", most}}};
    EXPECT_EQ(sum(large, {.output_tokens = 1, .cost = {{"USD", 1}}}), large);
}

TEST(CostSince, TotalThatGrows_IsItsDifference) {
    EXPECT_EQ(cost_since({{"USD", 5}}, {{"USD", 12}}), (Cost{{"USD", 7}}));
    EXPECT_EQ(cost_since({}, {{"USD", 12}}), (Cost{{"USD", 12}}));
    EXPECT_EQ(cost_since({{"USD", 5}}, {{"USD", 5}}), (Cost{{"USD", 0}}));
    EXPECT_EQ(cost_since({{"USD", 5}}, {}), Cost{}) << "unknown, not 0";
}

TEST(CostSince, SmallerTotalOrOtherCurrency_BeginsAgain) {
    EXPECT_EQ(cost_since({{"USD", 5}}, {{"USD", 3}}), (Cost{{"USD", 3}}));
    EXPECT_EQ(cost_since({{"USD", 5}}, {{"EUR", 3}}), (Cost{{"EUR", 3}}));
}

}  // namespace
}  // namespace dormouse::session
