#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::json {
namespace {

// A view of text that is checked first, so that no test uses what callers cannot.
View view(std::string_view text) {
    EXPECT_TRUE(check(text)) << text;
    return View(text);
}

TEST(View, Kind_IsKnownFromTheText) {
    EXPECT_EQ(view("null").kind(), Kind::null);
    EXPECT_EQ(view("true").kind(), Kind::boolean);
    EXPECT_EQ(view("false").kind(), Kind::boolean);
    EXPECT_EQ(view("-1").kind(), Kind::number);
    EXPECT_EQ(view("0").kind(), Kind::number);
    EXPECT_EQ(view("\"\"").kind(), Kind::string);
    EXPECT_EQ(view("[]").kind(), Kind::array);
    EXPECT_EQ(view("{}").kind(), Kind::object);
}

TEST(View, Absent_ReadsAsNullAndIsNotPresent) {
    View const absent = view("{\"a\":null}")["b"];
    EXPECT_FALSE(absent.exists());
    EXPECT_TRUE(absent.is_null());
    EXPECT_TRUE(absent.copy().is_null());
    EXPECT_FALSE(absent["c"].exists());
    EXPECT_FALSE(absent.at_pointer("/x").exists());
    EXPECT_EQ(absent.size(), 0u);
    View const null = view("{\"a\":null}")["a"];
    EXPECT_TRUE(null.exists());
    EXPECT_TRUE(null.is_null());
    EXPECT_TRUE(View().exists());
}

TEST(View, Booleans_AreOnlyBooleans) {
    EXPECT_EQ(view("true").boolean(), true);
    EXPECT_EQ(view("false").boolean(), false);
    EXPECT_FALSE(view("null").boolean());
    EXPECT_FALSE(view("1").boolean());
    EXPECT_FALSE(view("\"true\"").boolean());
}

TEST(View, Integers_AreTakenInEverySpelling) {
    struct {
        std::string_view text;
        std::optional<std::int64_t> expected;
    } const table[] = {
        {"0", 0},
        {"-0", 0},
        {"-0.0", 0},
        {"0E1122", 0},
        {"0e99999", 0},
        {"1", 1},
        {"-3", -3},
        {"1.0", 1},
        {"1.50e1", 15},
        {"1e3", 1000},
        {"100e-2", 1},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9.223372036854775807e18", INT64_MAX},
        {"9223372036854775808", std::nullopt},
        {"1e19", std::nullopt},
        {"1e308", std::nullopt},
        {"1.5", std::nullopt},
        {"1e-1", std::nullopt},
        {"1e-99999", std::nullopt},
        {"\"1\"", std::nullopt},
        {"null", std::nullopt},
        {"[1]", std::nullopt},
    };
    for (auto const& [text, expected] : table) {
        EXPECT_EQ(view(text).integer(), expected) << text;
    }
}

TEST(View, Numbers_AreTheNearestDoubles) {
    EXPECT_EQ(view("1.5").number(), 1.5);
    EXPECT_EQ(view("-1e2").number(), -100.0);
    EXPECT_EQ(view("1e-400").number(), 0.0);
    EXPECT_EQ(view("0E1122").number(), 0.0);
    EXPECT_EQ(view("1.7976931348623157e308").number(), 1.7976931348623157e308);
    EXPECT_EQ(view("9007199254740993").number(), 9007199254740992.0);
    EXPECT_FALSE(view("\"1\"").number());
}

TEST(View, Strings_AreDecoded) {
    EXPECT_EQ(view("\"\"").string(), "");
    EXPECT_EQ(view("\"plain\"").string(), "plain");
    EXPECT_EQ(view("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"").string(), "\"\\/\b\f\n\r\t");
    EXPECT_EQ(view("\"\\u0041\\u00e9\\u20AC\\uD83D\\uDE00!\"").string(),
              "A\u00e9\u20ac\U0001F600!");
    EXPECT_EQ(view("\"\\u0000\"").string(), std::string(1, '\0'));
    EXPECT_EQ(view("\"\\\\u0041\"").string(), "\\u0041");
    EXPECT_FALSE(view("1").string());
    EXPECT_FALSE(view("null").string());
}

TEST(View, Members_ComeInOrderWithDecodedKeys) {
    std::string seen;
    view("{ \"b\" : 1.0 ,\"\\u0061\":{\"x\":[1, 2]}, \"c\":\"}\\\"]\" }")
        .members([&](std::string_view key, View value) {
            seen += std::string(key) + "=" + std::string(value.raw()) + ";";
        });
    EXPECT_EQ(seen, "b=1.0;a={\"x\":[1, 2]};c=\"}\\\"]\";");
}

TEST(View, Elements_ComeInOrder) {
    std::string seen;
    view("[ 1,\"a,b]\" ,[[]], {\"a\":[]},null ]").elements([&](View value) {
        seen += std::string(value.raw()) + ";";
    });
    EXPECT_EQ(seen, "1;\"a,b]\";[[]];{\"a\":[]};null;");
}

TEST(View, OtherKinds_HaveNoMembersAndElements) {
    for (std::string_view const text : {"null", "1", "\"[1]\"", "true"}) {
        view(text).members([](std::string_view, View) { FAIL(); });
        view(text).elements([](View) { FAIL(); });
        EXPECT_EQ(view(text).size(), 0u);
        EXPECT_FALSE(view(text)["a"].exists());
    }
    view("[1]").members([](std::string_view, View) { FAIL(); });
    view("{\"a\":1}").elements([](View) { FAIL(); });
}

TEST(View, Size_CountsTheOuterLevel) {
    EXPECT_EQ(view("[]").size(), 0u);
    EXPECT_EQ(view("[ ]").size(), 0u);
    EXPECT_EQ(view("{ }").size(), 0u);
    EXPECT_EQ(view("[[1,2],[3,4,5]]").size(), 2u);
    EXPECT_EQ(view("{\"a\":[1,2],\"b\":{\"c\":1}}").size(), 2u);
}

TEST(View, LookUp_ComparesDecodedKeys) {
    View const object = view("{\"ab\":1,\"\\u0061\":2,\"\\\\\":3,\"\":4}");
    EXPECT_EQ(object["ab"].raw(), "1");
    EXPECT_EQ(object["a"].raw(), "2");
    EXPECT_EQ(object["\\"].raw(), "3");
    EXPECT_EQ(object[""].raw(), "4");
    EXPECT_FALSE(object["\\u0061"].exists());
    EXPECT_FALSE(object["b"].exists());
}

TEST(View, LookUp_FindsOnlyTheOuterLevel) {
    EXPECT_FALSE(view("{\"x\":{\"a\":1},\"y\":\"\\\"a\\\":2\"}")["a"].exists());
}

TEST(View, Strings_OfEveryLengthAndEscapePlace_AreSkipped) {
    for (std::size_t length = 0; length < 40; ++length) {
        for (std::size_t place = 0; place <= length; ++place) {
            std::string body(length, 'x');
            body.insert(place, "\\\\\\\"");
            std::string const text = "[\"" + body + "\",7]";
            EXPECT_EQ(view(text).at_pointer("/1").integer(), 7) << text;
        }
    }
}

TEST(View, Rfc6901_Pointers) {
    View const doc = view(
        "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4,"
        "\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}");
    EXPECT_EQ(doc.at_pointer("").raw(), doc.raw());
    EXPECT_EQ(doc.at_pointer("/foo").raw(), "[\"bar\",\"baz\"]");
    EXPECT_EQ(doc.at_pointer("/foo/0").raw(), "\"bar\"");
    EXPECT_EQ(doc.at_pointer("/").raw(), "0");
    EXPECT_EQ(doc.at_pointer("/a~1b").raw(), "1");
    EXPECT_EQ(doc.at_pointer("/c%d").raw(), "2");
    EXPECT_EQ(doc.at_pointer("/e^f").raw(), "3");
    EXPECT_EQ(doc.at_pointer("/g|h").raw(), "4");
    EXPECT_EQ(doc.at_pointer("/i\\j").raw(), "5");
    EXPECT_EQ(doc.at_pointer("/k\"l").raw(), "6");
    EXPECT_EQ(doc.at_pointer("/ ").raw(), "7");
    EXPECT_EQ(doc.at_pointer("/m~0n").raw(), "8");
    for (std::string_view const nowhere :
         {"foo", "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/x", "/foo/0/x", "/m~n", "/m~",
          "/m~2n", "/nope", "//"}) {
        EXPECT_FALSE(doc.at_pointer(nowhere).exists()) << nowhere;
    }
}

TEST(View, Shorthands_FallBack) {
    View const object = view("{\"s\":\"x\",\"i\":2,\"b\":true,\"n\":null}");
    EXPECT_EQ(object["s"].string_or("d"), "x");
    EXPECT_EQ(object["n"].string_or("d"), "d");
    EXPECT_EQ(object["i"].string_or("d"), "d");
    EXPECT_EQ(object["?"].string_or("d"), "d");
    EXPECT_EQ(object["i"].integer_or(9), 2);
    EXPECT_EQ(object["s"].integer_or(9), 9);
    EXPECT_EQ(object["?"].integer_or(9), 9);
    EXPECT_EQ(object["b"].boolean_or(false), true);
    EXPECT_EQ(object["i"].boolean_or(false), false);
}

TEST(View, Copy_KeepsTheBytes) {
    EXPECT_EQ(view("{\"a\":[1.0, 2]}")["a"].copy().text(), "[1.0, 2]");
}

}  // namespace
}  // namespace dormouse::json
