#include "base/indirect.h"

#include <gtest/gtest.h>

#include <string>

namespace dormouse {
namespace {

TEST(Indirect, Copies_AreIndependent) {
    Indirect<std::string> first = "one";
    Indirect<std::string> second = first;
    EXPECT_EQ(first, second);
    *second += "!";
    EXPECT_EQ(*first, "one");
    EXPECT_EQ(second->size(), 4U);
    first = second;
    *second = "three";
    EXPECT_EQ(*first, "one!");
    EXPECT_NE(first, second);
}

TEST(Indirect, MovedFrom_CanBeAssigned) {
    Indirect<std::string> first = "one";
    Indirect<std::string> const second = std::move(first);
    EXPECT_EQ(*second, "one");
    first = "two";
    EXPECT_EQ(*first, "two");
}

TEST(Indirect, Itself_CanBeAssigned) {
    Indirect<std::string> one = "one";
    auto const& same = one;
    one = same;
    EXPECT_EQ(*one, "one");
}

TEST(OptionalIndirect, Default_HasNoValue) {
    OptionalIndirect<std::string> none;
    EXPECT_FALSE(none);
    EXPECT_EQ(none, std::nullopt);
    EXPECT_EQ(none, OptionalIndirect<std::string>(std::optional<std::string>()));
    none.emplace("now");
    EXPECT_TRUE(none.has_value());
    EXPECT_EQ(*none, "now");
    none.reset();
    EXPECT_FALSE(none);
}

TEST(OptionalIndirect, Copies_AreIndependent) {
    OptionalIndirect<std::string> first = std::string("one");
    auto second = first;
    EXPECT_EQ(first, second);
    *second += "!";
    EXPECT_EQ(*first, "one");
    EXPECT_NE(first, second);
    auto const third = std::move(second);
    EXPECT_EQ(*third, "one!");
    first = {};
    EXPECT_NE(first, third);
    second = third;
    EXPECT_EQ(second->size(), 4U);
}

}  // namespace
}  // namespace dormouse
