#include "json/schema/schema.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::json {
namespace {

std::vector<Violation> violations(std::string_view schema, std::string_view value) {
    auto const checked_schema = check(schema);
    auto const checked_value = check(value);
    EXPECT_TRUE(checked_schema) << schema;
    EXPECT_TRUE(checked_value) << value;
    return json::violations(*checked_schema, *checked_value);
}

std::string pointers(std::vector<Violation> const& found) {
    std::string all;
    for (Violation const& violation : found) {
        EXPECT_FALSE(violation.message.empty());
        all += violation.pointer + ";";
    }
    return all;
}

struct Case {
    std::string schema, good, bad;
};

class Keyword : public testing::TestWithParam<Case> {};

TEST_P(Keyword, Values_ValidAcceptedInvalidRefused) {
    EXPECT_EQ(pointers(violations(GetParam().schema, GetParam().good)), "") << GetParam().schema;
    auto const found = violations(GetParam().schema, GetParam().bad);
    ASSERT_FALSE(found.empty()) << GetParam().schema;
    EXPECT_NE(found[0].pointer, "#") << found[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    Draft7, Keyword,
    testing::Values(
        Case{R"({"type":"string"})", R"("x")", "1"}, Case{R"({"type":"integer"})", "1", "1.5"},
        Case{R"({"type":"integer"})", "1.0", R"("1")"},
        Case{R"({"type":"integer"})", "1e3", "1e-3"}, Case{R"({"type":"number"})", "1.5", "null"},
        Case{R"({"type":["null","boolean"]})", "null", "0"},
        Case{R"({"enum":["a",1]})", "1", R"("b")"},
        Case{R"({"const":{"a":1}})", R"({"a":1.0})", "{}"},
        Case{R"({"minimum":0})", "0E1122", "-1"}, Case{R"({"exclusiveMaximum":3})", "2", "3"},
        Case{R"({"multipleOf":3})", "9", "10"},
        Case{R"({"minLength":2,"maxLength":3})", R"("é€")", R"("é")"},
        Case{R"({"pattern":"^v[0-9]+$"})", R"("v12")", R"("12")"},
        Case{R"({"required":["a"]})", R"({"a":null})", "{}"},
        Case{R"({"properties":{"a":{"type":"string"}}})", R"({"b":1})", R"({"a":1})"},
        Case{R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1})", R"({"b":1})"},
        Case{R"({"patternProperties":{"^x":{"type":"integer"}}})", R"({"x1":1,"y":"z"})",
             R"({"x1":"z"})"},
        Case{R"({"propertyNames":{"pattern":"^[a-z]+$"}})", R"({"ab":1})", R"({"A":1})"},
        Case{R"({"minProperties":1})", R"({"a":1})", "{}"},
        Case{R"({"dependencies":{"a":["b"]}})", R"({"a":1,"b":2})", R"({"a":1})"},
        Case{R"({"items":{"type":"integer"}})", "[1,2]", R"([1,"2"])"},
        Case{R"({"items":[{"type":"integer"}],"additionalItems":false})", "[1]", "[1,2]"},
        Case{R"({"minItems":1,"maxItems":2})", "[1]", "[]"},
        Case{R"({"uniqueItems":true})", "[1,2]", "[1,2,1]"},
        Case{R"({"contains":{"const":1}})", "[0,1]", "[0,2]"},
        Case{R"({"allOf":[{"minimum":1},{"maximum":3}]})", "2", "4"},
        Case{R"({"anyOf":[{"type":"string"},{"minimum":3}]})", "4", "2"},
        Case{R"({"oneOf":[{"minimum":1},{"minimum":3}]})", "2", "4"},
        Case{R"({"not":{"type":"null"}})", "1", "null"},
        Case{R"({"if":{"minimum":5},"then":{"multipleOf":5},"else":{"const":1}})", "10", "6"},
        Case{R"({"$ref":"#/definitions/d","definitions":{"d":{"type":"null"}}})", "null", "1"},
        Case{R"({"type":"object","properties":{"next":{"$ref":"#"}},"required":["v"]})",
             R"({"v":1,"next":{"v":2}})", R"({"v":1,"next":{}})"},
        Case{R"({"maximum":1e300})", "1e300", "1e301"}));

TEST(Violations, Pointer_NamesTheWrongValue) {
    std::string_view const schema =
        R"({"type":"object","properties":{"a/b":{"type":"array","items":{"type":"object",
            "properties":{"n~":{"type":"integer"}}}}}})";
    EXPECT_EQ(pointers(violations(schema, R"({"a/b":[{"n~":1},{"n~":"x"}]})")), "/a~1b/1/n~0;");
    EXPECT_EQ(pointers(violations(schema, "[]")), ";");
}

TEST(Violations, SeveralViolations_AllAreReported) {
    std::string_view const schema =
        R"({"properties":{"a":{"type":"string"},"b":{"minimum":3}},"required":["c"]})";
    auto const found = violations(schema, R"({"a":1,"b":2})");
    EXPECT_EQ(found.size(), 3u) << pointers(found);
}

TEST(Violations, Violations_AreAtMostAHundred) {
    std::string value = "[0";
    for (int i = 0; i < 5'000; ++i) {
        value += ",0";
    }
    auto const found = violations(R"({"items":{"type":"string"}})", value + "]");
    EXPECT_FALSE(found.empty());
    EXPECT_LE(found.size(), 100u);
}

TEST(Violations, Format_IsAComment) {
    EXPECT_TRUE(violations(R"({"format":"date"})", "1").empty());
    EXPECT_TRUE(violations(R"({"format":"date-time"})", R"("tomorrow")").empty());
    EXPECT_TRUE(violations(R"({"propertyNames":{"format":"date"}})", R"({"a":1})").empty());
}

class Broken : public testing::TestWithParam<std::string> {};

TEST_P(Broken, Schema_IsOneViolationAtTheHash) {
    auto const found = violations(GetParam(), R"({"a":"x"})");
    ASSERT_EQ(found.size(), 1u) << GetParam();
    EXPECT_EQ(found[0].pointer, "#");
    EXPECT_TRUE(found[0].message.starts_with("the schema is invalid: ")) << found[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    Schema, Broken,
    testing::Values("[]", "1", R"({"type":5})", R"({"type":"strange"})", R"({"required":[1]})",
                    R"({"properties":[]})", R"({"properties":{"a":{"pattern":"("}}})",
                    R"({"$ref":"#/nowhere"})", R"({"$ref":"http://example.com/schema"})",
                    R"({"$ref":"other.json#/a"})", R"({"$ref":"#"})",
                    R"({"$ref":"#/a","a":{"$ref":"#/b"},"b":{"$ref":"#/a"}})",
                    R"({"$ref":"#/%61","a":{}})", R"({"allOf":[{"$ref":"#"}]})",
                    R"({"properties":{"a":{"$ref":"#/d"}},"d":{"anyOf":[{"$ref":"#/d"}]}})",
                    R"({"propertyNames":{"$ref":"#/d"},"d":{"not":{"$ref":"#/d"}}})",
                    "{\"properties\":{\"a\":{\"pattern\":\"" + std::string(2'000, 'a') + "\"}}}",
                    R"({"properties":{"a":{"pattern":"(a)\\1"}}})",
                    R"_({"properties":{"a":{"pattern":"a(?=b)"}}})_",
                    R"({"properties":{"a":{"pattern":"(?<!a)b"}}})",
                    R"({"properties":{"b":{"pattern":"((a{0,500}){0,500}){0,500}"}}})",
                    R"({"patternProperties":{"(":{}}})", R"({"multipleOf":0})"));

// A schema is refused when it is given, not when a value reaches its pattern.
TEST(Violations, BrokenPattern_NoValueForIt_IsReportedAtOnce) {
    auto const found = violations(R"_({"properties":{"a":{"pattern":"a(?!b)"}}})_", "null");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].message.contains("look-around")) << found[0].message;
}

TEST(Violations, SchemaWithExponentialWork_IsStopped) {
    std::string schema = R"({"allOf":[{"$ref":"#/d/d0"}],"d":{)";
    for (int i = 0; i < 40; ++i) {
        std::string const next = std::to_string(i + 1);
        schema += "\"d" + std::to_string(i) + R"(":{"allOf":[{"$ref":"#/d/d)" + next +
                  R"("},{"$ref":"#/d/d)" + next + R"("}]},)";
    }
    auto const found = violations(schema + R"("d40":{}}})", "1");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].pointer, "#");
}

TEST(Violations, PatternsWithBacktracking_AreLinear) {
    EXPECT_EQ(violations(R"({"pattern":"^(a+)+$"})", "\"" + std::string(200, 'a') + "!\"").size(),
              1u);
}

TEST(Violations, Patterns_AreSearchedAndAnchorsHold) {
    EXPECT_TRUE(violations(R"({"pattern":"b+c"})", R"("a\nabbcd")").empty());
    EXPECT_FALSE(violations(R"({"pattern":"^b"})", R"("ab")").empty());
    EXPECT_FALSE(violations(R"({"pattern":"b$"})", R"("bc")").empty());
    EXPECT_FALSE(violations(R"({"pattern":"^(a|b)$"})", R"("ab")").empty());
    EXPECT_TRUE(violations(R"({"pattern":"x|b$"})", R"("ab")").empty());
    EXPECT_EQ(violations(R"({"pattern":"a)|(b"})", R"("a")")[0].pointer, "#");
}

TEST(Violations, Patterns_OfEcmaScript_AreUnderstood) {
    EXPECT_TRUE(violations(R"({"pattern":"^.$"})", R"("é")").empty());
    EXPECT_FALSE(violations(R"({"pattern":"^.$"})", R"("\r")").empty());
    EXPECT_TRUE(violations(R"({"pattern":"^[.]$"})", R"(".")").empty());
    EXPECT_FALSE(violations(R"({"pattern":"^[.]$"})", R"("a")").empty());
    EXPECT_TRUE(violations(R"({"pattern":"^\\u00e9[\\u20ac\\]]\\cJ$"})", R"("é€\n")").empty());
    EXPECT_TRUE(
        violations(R"({"pattern":"^(?<year>\\d{4})-(?:0|1)\\/$"})", R"("2026-1/")").empty());
}

TEST(Violations, AnyOf_ManyViolationsInOneChoice_OtherChoiceFits) {
    std::string value = "[0";
    for (int i = 0; i < 500; ++i) value += ",0";
    std::string_view const schema =
        R"({"anyOf":[{"items":{"type":"string"}},{"items":{"type":"integer"}}]})";
    EXPECT_TRUE(violations(schema, value + "]").empty());
    EXPECT_EQ(violations(schema, value + ",true]").size(), 100u);
}

TEST(Violations, MemberNames_AreMatchedInBoundedTime) {
    std::string_view const schema = R"({"patternProperties":{"(a+)+$":{"type":"null"}}})";
    std::string const name(200, 'a');
    EXPECT_TRUE(violations(schema, "{\"" + name + "!\":1}").empty());
    EXPECT_EQ(pointers(violations(schema, "{\"" + name + "\":1}")), "/" + name + ";");
}

TEST(Violations, StringTooLongForAPattern_IsRefused) {
    std::string const value = "\"" + std::string(1'000'000, 'a') + "\"";
    auto const found = violations(R"({"pattern":"^(a|b)*$"})", value);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].pointer, "");
    EXPECT_TRUE(violations(R"({"type":"string"})", value).empty());
    EXPECT_EQ(violations(R"({"patternProperties":{"^(a|b)*$":{}}})", "{" + value + ":1}").size(),
              1u);
}

TEST(Violations, UniqueItems_VeryMany_CheckedInOnePass) {
    std::string_view const schema = R"({"uniqueItems":true})";
    std::string value = "[0";
    for (int i = 1; i < 100'000; ++i) value += "," + std::to_string(i);
    EXPECT_TRUE(violations(schema, value + "]").empty());
    auto const found = violations(schema, value + ",77]");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].message, "item 77 is repeated; items must be unique");
}

TEST(Violations, UniqueItems_LargeObjects_CheckedInOnePass) {
    std::string object;
    for (int i = 0; i < 100; ++i) object += "\"member" + std::to_string(i) + "\":1,";
    std::string value = "[";
    for (int i = 0; i < 2'000; ++i) value += "{" + object + "\"n\":" + std::to_string(i) + "},";
    std::string_view const schema = R"({"uniqueItems":true})";
    EXPECT_TRUE(violations(schema, value + "0]").empty());
    EXPECT_EQ(violations(schema, value + "{\"n\":7," + object + "\"x\":0}]").size(), 0u);
    object.pop_back();
    EXPECT_EQ(violations(schema, value + "{\"n\":7," + object + "}]").size(), 1u);
}

TEST(Violations, UniqueItems_EqualOnlyWhenOfOneTypeAndValue) {
    std::string_view const schema = R"({"uniqueItems":true})";
    EXPECT_TRUE(violations(schema, R"([1,"1",true,null,[1],["1"],{"a":1},{"a":"1"},1.5])").empty());
    EXPECT_TRUE(violations(schema, R"(["a,b",["a","b"],"[a"])").empty());
    EXPECT_FALSE(violations(schema, "[1,1.0]").empty());
    EXPECT_FALSE(violations(schema, R"([{"a":1,"b":2},{"b":2,"a":1}])").empty());
    EXPECT_TRUE(violations(schema, "[18446744073709551615,18446744073709551614]").empty());
}

TEST(Violations, Patterns_OverManyBytes_TakeTooLong) {
    std::string value = "[";
    for (int i = 0; i < 200; ++i) value += "\"" + std::string(65'000, 'a') + "\",";
    auto const found = violations(R"({"items":{"pattern":"^[a-z0-9-]+$"}})", value + "\"a\"]");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].message, "takes too long to be checked against its schema");
    EXPECT_TRUE(violations(R"({"items":{"pattern":"^[a-z0-9-]+$"}})",
                           "[\"" + std::string(65'000, 'a') + "\"]")
                    .empty());
}

TEST(Violations, Within_TooFewSteps_ReturnsNothing) {
    Json const schema = Json::trusted(R"({"items":{"type":"integer"}})");
    std::string value = "[0";
    for (int i = 1; i < 1'000; ++i) value += "," + std::to_string(i);
    Json const fits = Json::trusted(value + "]");
    EXPECT_FALSE(violations_within(100, schema, fits));
    ASSERT_TRUE(violations_within(steps_soon, schema, fits));
    EXPECT_TRUE(violations_within(steps_soon, schema, fits)->empty());
    Json const misfit = Json::trusted("[\"a\"]");
    EXPECT_EQ(violations_within(100, schema, misfit)->size(), 1u);
}

TEST(Violations, PatternProperties_OverManyNames_TakeTooLong) {
    std::string value = "{";
    for (int i = 0; i < 300'000; ++i) value += "\"x" + std::to_string(i) + "\":1,";
    auto const found = violations(R"({"patternProperties":{"^x":{}}})", value + "\"y\":1}");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].message, "takes too long to be checked against its schema");
}

}  // namespace
}  // namespace dormouse::json
