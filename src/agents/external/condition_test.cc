#include "external/condition.h"

#include <gtest/gtest.h>

namespace dormouse::external {
namespace {

struct Case {
    std::string input;
    bool may_hold;
};

void expect(Condition const& condition, std::vector<Case> const& cases) {
    Conditions const conditions({condition});
    for (Case const& one : cases)
        EXPECT_EQ(conditions.may_hold(Json::trusted(one.input)), one.may_hold) << one.input;
}

Condition equals(std::string value) { return {"/a", Json::trusted(std::move(value))}; }

TEST(Condition, EqualText_OnlyAnotherTextIsExcluded) {
    expect(equals(R"("prod")"), {{R"({"a":"prod"})", true},
                                 {R"({"a":"\u0070rod"})", true},
                                 {R"({"a":"test"})", false},
                                 {R"({"a":"Prod"})", false},
                                 {R"({"a":"prod "})", false},
                                 {R"({"a":""})", false}});
}

TEST(Condition, MissingOrOfAnotherType_IsNeverExcluded) {
    std::vector<Condition> const conditions = {equals("\"x\""),
                                               equals("7"),
                                               equals("true"),
                                               {"/a", {}, "^x$"},
                                               {"/a", {}, {}, 1.0, {}},
                                               {"/a", {}, {}, {}, 1.0},
                                               {"/a/b", Json::trusted("\"x\"")}};
    for (Condition const& condition : conditions) {
        expect(condition, {{R"({})", true},
                           {R"({"a":null})", true},
                           {R"({"a":[]})", true},
                           {R"({"a":{}})", true},
                           {R"({"A":"y"})", true},
                           {R"(null)", true},
                           {R"("a")", true},
                           {R"([1,2])", true}});
    }
    expect(equals("\"7\""), {{R"({"a":8})", true}});
    expect(equals("7"), {{R"({"a":"8"})", true}, {R"({"a":false})", true}});
    expect(equals("true"), {{R"({"a":0})", true}, {R"({"a":"false"})", true}});
    expect({"/a", {}, {}, 100.0, {}}, {{R"({"a":"5"})", true}, {R"({"a":true})", true}});
}

TEST(Condition, EqualNumber_ComparesValuesNotSpelling) {
    expect(equals("1000"), {{R"({"a":1000})", true},
                            {R"({"a":1000.0})", true},
                            {R"({"a":1e3})", true},
                            {R"({"a":1001})", false},
                            {R"({"a":-1000})", false}});
    expect(equals("9007199254740993"),
           {{R"({"a":9007199254740993})", true}, {R"({"a":9007199254740992})", false}});
}

TEST(Condition, Range_RoundingNeverExcludesWhatIsInside) {
    expect({"/a", {}, {}, 100.0, 200.0}, {{R"({"a":100})", true},
                                          {R"({"a":200})", true},
                                          {R"({"a":99.99999999999999999999})", true},
                                          {R"({"a":200.00000000000000000001})", true},
                                          {R"({"a":99.9})", false},
                                          {R"({"a":201})", false},
                                          {R"({"a":-1e308})", false}});
    expect({"/a", {}, {}, 9007199254740993.0, {}}, {{R"({"a":9007199254740993})", true}});
}

TEST(Condition, Pattern_MatchesAnyPartOfAText) {
    expect({"/a", {}, "^prod(-|$)"}, {{R"({"a":"prod"})", true},
                                      {R"({"a":"prod-1"})", true},
                                      {R"({"a":"my prod"})", false},
                                      {R"({"a":"production"})", false}});
    std::string const large(100'000, 'x');
    expect({"/a", {}, "y"}, {{R"({"a":")" + large + R"("})", true}});
}

TEST(Condition, Pointer_ReachesIntoNestedValues) {
    expect({"/a/0/b~1c", Json::trusted("true")}, {{R"({"a":[{"b/c":true}]})", true},
                                                  {R"({"a":[{"b/c":false}]})", false},
                                                  {R"({"a":[]})", true}});
}

TEST(Conditions, One_ThatDoesNotHoldIsEnough) {
    Conditions const both({equals("\"prod\""), {"/n", {}, {}, 10.0, {}}});
    EXPECT_TRUE(both.may_hold(Json::trusted(R"({"a":"prod","n":10})")));
    EXPECT_FALSE(both.may_hold(Json::trusted(R"({"a":"prod","n":9})")));
    EXPECT_FALSE(both.may_hold(Json::trusted(R"({"a":"test","n":10})")));
    EXPECT_TRUE(both.may_hold(Json::trusted(R"({"a":"prod"})")));
    EXPECT_TRUE(Conditions({}).may_hold(Json::trusted("{}")));
}

}  // namespace
}  // namespace dormouse::external
