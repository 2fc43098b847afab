#include <dormouse/schema.h>

#include "json/json.h"
#include "json/schema/schema.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dormouse {
namespace {

using namespace std::chrono_literals;

enum class Size : std::uint8_t { small, large = 5, delete_ };

struct Limits {
    int cpus = 2;
    std::optional<double> memory = {};
};

struct Card {
    static constexpr std::string_view tag = "card";
    std::string number;
};
struct Cash {
    static constexpr std::string_view tag = "cash";
    std::int16_t coins = 1;
};

struct Deploy {
    std::string service;
    std::optional<std::string> version;

    static constexpr Doc doc[] = {
        {"service", "What to deploy, for example \"api\""},
        {"version", "A git tag; the newest one if left out"},
    };
};

struct Ruled {
    std::string name;
    int replicas = 3;
    std::vector<std::string> regions;
    double share = 0.5;
    bool force = false;
    std::optional<std::int64_t> budget;

    static constexpr Doc doc[] = {
        {"name", "Its name", {.min_size = 2, .max_size = 4, .pattern = "^[a-zé]+$"}},
        {"replicas", "How many", {.min = 1, .max = 9}},
        {"regions", "", {.min_size = 1, .max_size = 2}},
        {"share", "", {.min = 0.25, .max = 1}},
        {"force", "", {.may_be_left_out = true}},
        {"budget", "", {.min = -9007199254740993}},
    };
};

template <class T> Json schema() { return schema_of<T>(); }
template <class T> std::string error_of(std::string text) {
    auto const checked = json::check(text);
    EXPECT_TRUE(checked) << text;
    auto const value = from_json<T>(*checked);
    return value ? "ok" : value.error().detail;
}
template <class T> std::string text(T const& value) {
    auto const json = to_json(value);
    return json ? std::string(json->text()) : "error: " + json.error().detail;
}

TEST(SchemaOf, PlainStruct_NamesFieldsInOrderAndRequiredOnes) {
    EXPECT_EQ(schema<Deploy>().text(),
              R"({"type":"object","properties":{"service":{"type":"string",)"
              R"("description":"What to deploy, for example \"api\""},)"
              R"("version":{"type":["string","null"],)"
              R"("description":"A git tag; the newest one if left out"}},)"
              R"("required":["service"],"additionalProperties":false})");
}

TEST(SchemaOf, RulesAndInitialisers_BecomeBoundsAndDefaults) {
    EXPECT_EQ(schema<Ruled>().text(),
              R"({"type":"object","properties":{"name":{"type":"string","minLength":2,)"
              R"("maxLength":4,"pattern":"^[a-zé]+$","description":"Its name"},)"
              R"("replicas":{"type":"integer","minimum":1,"maximum":9,)"
              R"("description":"How many","default":3},)"
              R"("regions":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2},)"
              R"("share":{"type":"number","minimum":0.25,"maximum":1,"default":0.5},)"
              R"("force":{"type":"boolean","default":false},)"
              R"("budget":{"type":["integer","null"],"minimum":-9007199254740993}},)"
              R"("required":["name","regions"],"additionalProperties":false})");
}

TEST(SchemaOf, EachType_HasItsSchema) {
    EXPECT_EQ(schema<bool>().text(), R"({"type":"boolean"})");
    EXPECT_EQ(schema<std::int8_t>().text(), R"({"type":"integer","minimum":-128,"maximum":127})");
    EXPECT_EQ(schema<std::uint32_t>().text(),
              R"({"type":"integer","minimum":0,"maximum":4294967295})");
    EXPECT_EQ(schema<std::int64_t>().text(), R"({"type":"integer"})");
    EXPECT_EQ(schema<std::uint64_t>().text(), R"({"type":"integer","minimum":0})");
    EXPECT_EQ(schema<Size>().text(), R"({"type":"string","enum":["small","large","delete"]})");
    EXPECT_EQ(schema<std::optional<Size>>().text(),
              R"({"type":["string","null"],"enum":["small","large","delete",null]})");
    EXPECT_EQ((schema<std::array<bool, 2>>().text()),
              R"({"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2})");
    EXPECT_EQ((schema<std::map<std::string, double>>().text()),
              R"({"type":"object","additionalProperties":{"type":"number"}})");
    EXPECT_EQ(schema<Json>().text(), "{}");
    EXPECT_EQ(schema<std::optional<Limits>>().text(),
              R"({"anyOf":[{"type":"object","properties":{"cpus":{"type":"integer",)"
              R"("minimum":-2147483648,"maximum":2147483647,"default":2},)"
              R"("memory":{"type":["number","null"]}},"additionalProperties":false},)"
              R"({"type":"null"}]})");
}

TEST(SchemaOf, Variant_IsAnyOfWithTags) {
    EXPECT_EQ((schema<std::variant<std::monostate, Card, Cash, std::string>>().text()),
              R"({"anyOf":[{"type":"null"},{"type":"object","properties":)"
              R"({"type":{"enum":["card"]},"number":{"type":"string"}},)"
              R"("required":["type","number"],"additionalProperties":false},)"
              R"({"type":"object","properties":{"type":{"enum":["cash"]},)"
              R"("coins":{"type":"integer","minimum":-32768,"maximum":32767,"default":1}},)"
              R"("required":["type"],"additionalProperties":false},{"type":"string"}]})");
}

struct BrokenPattern {
    std::string name;
    static constexpr Doc doc[] = {{"name", "", {.pattern = "("}}};
};
struct BrokenDefault {
    int count = 7;
    static constexpr Doc doc[] = {{"count", "", {.max = 5}}};
};
struct Deep {
    std::vector<BrokenDefault> inner;
};

TEST(SchemaOf, MistakesBeyondTheCompiler_AreFound) {
    EXPECT_EQ(detail::mistakes(detail::type_of<Ruled>), "");
    EXPECT_TRUE(detail::mistakes(detail::type_of<BrokenPattern>)
                    .starts_with("the pattern of name is broken"));
    EXPECT_EQ(detail::mistakes(detail::type_of<Deep>),
              "the default value of count breaks its own rule: it must be at most 5");
}

TEST(FromJson, GivenFields_AreFilledOthersKept) {
    auto const ruled = from_json<Ruled>(
        Json::trusted(R"({"regions":["eu"],"name":"api","budget":9007199254740993})"));
    ASSERT_TRUE(ruled);
    EXPECT_EQ(ruled->name, "api");
    EXPECT_EQ(ruled->replicas, 3);
    EXPECT_EQ(ruled->regions, std::vector<std::string>{"eu"});
    EXPECT_EQ(ruled->budget, 9007199254740993);
    EXPECT_EQ(from_json<Deploy>(Json::trusted(R"({"service":"a","version":null})"))->version,
              std::nullopt);
}

TEST(FromJson, Integers_AreExactInEverySpelling) {
    auto const integer = [](char const* text) {
        return from_json<std::int64_t>(Json::trusted(text)).value_or(-1);
    };
    EXPECT_EQ(integer("9007199254740993"), 9007199254740993);
    EXPECT_EQ(integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(integer("9223372036854775807.0"), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(integer("12e2"), 1200);
    EXPECT_EQ(integer("-0"), 0);
    EXPECT_EQ(from_json<std::uint64_t>(Json::trusted("18446744073709551615")).value(),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(error_of<std::int64_t>("9223372036854775808"),
              "it must be at most 9223372036854775807");
    EXPECT_EQ(error_of<std::int64_t>("-1e30"), "it must be at least -9223372036854775808");
    EXPECT_EQ(error_of<std::uint8_t>("-1"), "it must be at least 0");
    EXPECT_EQ(error_of<std::int8_t>("128"), "it must be at most 127");
    EXPECT_EQ(error_of<int>("1.5"), "it must be an integer");
    EXPECT_EQ(error_of<int>("1e-400"), "it must be an integer");
    EXPECT_EQ(error_of<int>("\"1\""), "it must be an integer, not a string");
    EXPECT_EQ(error_of<int>("true"), "it must be an integer, not true or false");
}

TEST(FromJson, AllMistakes_AreReportedWithTheirPointer) {
    auto const wrong = from_json<Ruled>(Json::trusted(
        R"({"name":"A","replicas":10,"regions":[1,"b","c"],"share":0.2,"froce":true})"));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::bad_value);
    EXPECT_EQ(wrong.error().detail,
              "/name must have at least 2 characters; /name does not match the pattern "
              "^[a-zé]+$; /replicas must be at most 9; /regions must have at most 2 items; "
              "/regions/0 must be a string, not a number; /share must be at least 0.25; "
              "/froce is not known; did you mean \"force\"?");
    json::View const errors = json::View(wrong.error().extra)["errors"];
    EXPECT_EQ(errors.size(), 7U);
    EXPECT_EQ(errors.at_pointer("/4/pointer").string(), "/regions/0");
}

TEST(FromJson, MissingField_IsNamed) {
    EXPECT_EQ(error_of<Ruled>("{}"), "/name is missing; /regions is missing");
    EXPECT_EQ(error_of<Ruled>("[]"), "it must be an object, not an array");
    EXPECT_EQ(error_of<Deploy>(R"({"service":null})"), "/service must be a string, not null");
}

TEST(FromJson, Pointers_AreEscaped) {
    using Map = std::map<std::string, int>;
    EXPECT_EQ(error_of<Map>(R"({"a/b~c":"x","d\u0022":2})"),
              "/a~1b~0c must be an integer, not a string");
}

TEST(FromJson, Mistakes_AreReportedUpToALimit) {
    std::string items;
    for (int i = 0; i < 1'000; ++i) items += (i != 0 ? ",0" : "0");
    auto const many = from_json<std::vector<std::string>>(Json::trusted("[" + items + "]"));
    EXPECT_EQ(json::View(many.error().extra)["errors"].size(), 16U);
}

TEST(FromJson, EnumName_Unknown_NearestIsSuggested) {
    EXPECT_EQ(from_json<Size>(Json::trusted("\"delete\"")).value(), Size::delete_);
    EXPECT_EQ(from_json<Size>(Json::trusted(R"("l\u0061rge")")).value(), Size::large);
    EXPECT_EQ(error_of<Size>("\"larg\""),
              "it must be one of \"small\", \"large\", \"delete\"; did you mean \"large\"?");
    EXPECT_EQ(error_of<Size>("5"), "it must be a string, not a number");
}

TEST(FromJson, Variants_AreToldApartByKindAndTag) {
    using Means = std::variant<std::monostate, Card, Cash, std::string>;
    auto const card = from_json<Means>(Json::trusted(R"({"number":"4","type":"card"})"));
    EXPECT_EQ(std::get<Card>(card.value()).number, "4");
    auto const cash = from_json<Means>(Json::trusted(R"({"type":"cash"})"));
    EXPECT_EQ(std::get<Cash>(cash.value()).coins, 1);
    EXPECT_EQ(std::get<std::string>(from_json<Means>(Json::trusted("\"x\"")).value()), "x");
    EXPECT_EQ(from_json<Means>(Json::trusted("null")).value().index(), 0U);
    EXPECT_EQ(error_of<Means>(R"({"type":"coins"})"), "/type must be one of \"card\", \"cash\"");
    EXPECT_EQ(error_of<Means>(R"({"type":"cash","coin":1})"),
              "/coin is not known; did you mean \"coins\"?");
    EXPECT_EQ(error_of<Means>("[]"), "it must not be an array");
}

TEST(FromJson, Durations_HaveTheirUnit) {
    EXPECT_EQ(from_json<std::chrono::milliseconds>(Json::trusted("\"250ms\"")).value(), 250ms);
    EXPECT_EQ(from_json<std::chrono::minutes>(Json::trusted("\"2h\"")).value(), 120min);
    EXPECT_EQ(error_of<std::chrono::seconds>("\"1500ms\""), "it must be a whole number of 1000 ms");
    EXPECT_EQ(error_of<std::chrono::seconds>("\"soon\""),
              "it must be a duration such as \"250ms\", \"5s\", \"3m\" or \"2h\"");
    using Tiny = std::chrono::duration<std::int8_t>;
    EXPECT_EQ(error_of<Tiny>("\"1h\""), "it is longer than this field can hold");
}

TEST(ToJson, EachType_IsWritten) {
    EXPECT_EQ(text(true), "true");
    EXPECT_EQ(text(std::int64_t{-9007199254740993}), "-9007199254740993");
    EXPECT_EQ(text(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
    EXPECT_EQ(text(std::int8_t{-128}), "-128");
    EXPECT_EQ(text(1e21), "1e+21");
    EXPECT_EQ(text(std::string("a\"\n")), R"("a\"\n")");
    EXPECT_EQ(text(Size::delete_), "\"delete\"");
    EXPECT_EQ(text(90min), "\"90m\"");
    EXPECT_EQ(text(0ms), "\"0s\"");
    EXPECT_EQ(text(std::vector<std::optional<int>>{1, {}}), "[1,null]");
    EXPECT_EQ(text(std::map<std::string, Json>{{"b", Json::trusted("[1]")}, {"a", {}}}),
              R"({"a":null,"b":[1]})");
    EXPECT_EQ(text(std::variant<Card, Cash>(Cash{3})), R"({"type":"cash","coins":3})");
    EXPECT_EQ(text(Deploy{"api", {}}), R"({"service":"api"})");
    EXPECT_EQ(text(std::array<Limits, 2>{}), R"([{"cpus":2},{"cpus":2}])");
}

TEST(ToJson, ValueWithoutForm_OrAgainstItsRule_IsAnErrorWithItsPlace) {
    EXPECT_EQ(text(std::map<std::string, double>{{"a", 1}, {"b", std::nan("")}}),
              "error: /b is not a finite number and has no JSON form");
    EXPECT_EQ(text(static_cast<Size>(4)), "error: it has the value 4, which has no name");
    EXPECT_EQ(text(-5s), "error: it is below zero or too long for a duration");
    EXPECT_EQ(text(1'000'000'001ms), "error: it is below zero or too long for a duration");
    EXPECT_EQ(text(Ruled{.name = "api", .replicas = 0, .regions = {"eu"}, .budget = {}}),
              "error: /replicas must be at least 1");
}

// Struct types in functions, templates, unnamed namespaces and other structs.
template <class T> struct Box {
    T content;
    struct Lid {
        T thickness;
    } lid;
};

TEST(Names, FieldNames_OfAnyStruct_AreFound) {
    struct Local {
        int depth;
        Box<int> box;
        std::string class_;
    };
    EXPECT_EQ(text(Local{1, {2, {3}}, "x"}),
              R"({"depth":1,"box":{"content":2,"lid":{"thickness":3}},"class":"x"})");
}

struct Wide {
    int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc,
        dd, ee, ff;
};

TEST(Names, FieldNames_OfUpToThirtyTwoFields) {
    Wide wide{};
    wide.ff = 5;
    auto const json = to_json(wide);
    ASSERT_TRUE(json);
    EXPECT_EQ(from_json<Wide>(*json)->ff, 5);
    EXPECT_EQ(json::View(*json).size(), 32U);
}

struct Lookup {
    std::optional<int> max = 7;
    std::optional<std::string> word;
};

TEST(Typed, OptionalWithAnInitialiser_IsEmptiedByNull) {
    Lookup none;
    none.max.reset();
    auto const written = to_json(none);
    ASSERT_TRUE(written);
    EXPECT_EQ(written->text(), R"({"max":null})");
    EXPECT_FALSE(from_json<Lookup>(*written)->max);
    EXPECT_EQ(from_json<Lookup>(Json::trusted("{}"))->max, 7);
    EXPECT_EQ(to_json(Lookup{.max = 3})->text(), R"({"max":3})");
}

struct Loose {
    bool dry_run = false;
    int retries = 0;
    static constexpr bool all_optional = true;
};

TEST(Typed, StructWithAllFieldsOptional_RequiresNone) {
    EXPECT_FALSE(schema_of<Loose>().text().contains("required"));
    EXPECT_TRUE(schema_of<Loose>().text().contains(R"("default":false)"));
    auto const read = from_json<Loose>(Json::trusted(R"({"retries":2})"));
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(read->retries, 2);
    EXPECT_FALSE(read->dry_run);
}

TEST(Typed, UnknownMembers_AreSkippedWhenAsked) {
    Json const longer = Json::trusted(R"({"max":1,"added":{"later":true}})");
    EXPECT_FALSE(from_json<Lookup>(longer));
    auto const read = from_json<Lookup>(longer, Unknown::skip);
    ASSERT_TRUE(read) << read.error().detail;
    EXPECT_EQ(read->max, 1);
    EXPECT_FALSE(from_json<Lookup>(Json::trusted(R"({"max":"no"})"), Unknown::skip));
}

}  // namespace
}  // namespace dormouse
