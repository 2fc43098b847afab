#include "json/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::json {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Change> between(std::string_view before, std::string_view after) {
    return changes(View(before), View(after));
}

TEST(Changes, Objects_AreComparedMemberByMember) {
    EXPECT_THAT(
        between(R"({"target":"A","force":true,"at":{"zone":"eu","n":1}})",
                R"({"target":"B","at":{"n":1,"zone":"us"},"note":"x"})"),
        ElementsAre(Change{"target", R"("A")", R"("B")"}, Change{"force", "true", std::nullopt},
                    Change{"at.zone", R"("eu")", R"("us")"},
                    Change{"note", std::nullopt, R"("x")"}));
}

TEST(Changes, OtherValues_AreComparedAsAWhole) {
    EXPECT_THAT(between("[1,2]", "[1,3]"), ElementsAre(Change{"", "[1,2]", "[1,3]"}));
    EXPECT_THAT(between(R"({"a":{"b":1}})", R"({"a":7})"),
                ElementsAre(Change{"a", R"({"b":1})", "7"}));
}

TEST(Changes, ValuesSpelledDifferently_AreEqual) {
    EXPECT_THAT(between(R"({"a":1.0,"b":[ 1 ]})", R"({"b":[1],"a":1})"), IsEmpty());
}

}  // namespace
}  // namespace dormouse::json
