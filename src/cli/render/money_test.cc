#include "cli/render/money.h"

#include <gtest/gtest.h>

#include <limits>

namespace dormouse::cli {
namespace {

TEST(Money, Amounts_HaveTwoDecimalsAndSmallOnesFour) {
    EXPECT_EQ(money(1'250'000, "USD"), "$1.25");
    EXPECT_EQ(money(1'234'999, "EUR"), "EUR 1.23");
    EXPECT_EQ(money(1'995'000, "USD"), "$2.00");
    EXPECT_EQ(money(10'000, "USD"), "$0.01");
    EXPECT_EQ(money(9'960, "USD"), "$0.0100");
    EXPECT_EQ(money(3'449, "EUR"), "EUR 0.0034");
    EXPECT_EQ(money(99, "USD"), "<$0.0001");
    EXPECT_EQ(money(0, "USD"), "$0.00");
    EXPECT_EQ(money(std::numeric_limits<std::int64_t>::max(), "USD"), "$9223372036854.78");
}

TEST(CostText, SeveralCurrencies_AreNotAdded) {
    EXPECT_EQ(cost_text({{"EUR", 2'000'000}, {"USD", 500'000}}), "EUR 2.00 + $0.50");
}

TEST(CostText, UnknownCost_IsEmpty) {
    EXPECT_EQ(cost_text(read_cost(json::View("null"))), "");
    EXPECT_EQ(cost_text(read_cost(json::View("{}"))), "");
    EXPECT_EQ(cost_text(read_cost(json::View(R"({"USD":"1"})"))), "");
    EXPECT_EQ(cost_text(read_cost(json::View(R"({"USD":20000})"))), "$0.02");
}

}  // namespace
}  // namespace dormouse::cli
