#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::json {
namespace {

using namespace std::string_literals;

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) {
        text += open;
    }
    text += "1";
    for (std::size_t i = 0; i < depth; ++i) {
        text += close;
    }
    return text;
}

class Taken : public testing::TestWithParam<std::string> {};

TEST_P(Taken, Text_KeepsEveryByte) {
    auto const json = check(GetParam());
    ASSERT_TRUE(json) << json.error().detail;
    EXPECT_EQ(json->text(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Check, Taken,
    testing::Values("null", "true", "false", "0", "-0", "-0.0", "1", "1.50", "1E5", "1e-400",
                    "0E1122", "[0e400]", "0e2147483647", "1.7976931348623157e308",
                    "18446744073709551616", "123456789012345678901234567890", "\"\"", "\"\\u0000\"",
                    "\"\\ud83d\\ude00\"", "\"\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "\"\x7f\"",
                    "\"\u2028\"", "\"\U0010FFFF\"", "[]", "{}", "[ ]", "{ }", "[1 , 2]", "{\"\":1}",
                    "{\"a\":{\"a\":{\"a\":1}}}", "[{\"a\":1},{\"a\":1}]",
                    "{\"a\":1,\"b\":{\"a\":1},\"c\":2}", "{\"a\\\\ud800\":1}"));

TEST(Check, SurroundingWhiteSpace_IsRemoved) {
    EXPECT_EQ(check(" \t\r\n{\"a\" : 1} \n")->text(), "{\"a\" : 1}");
    EXPECT_EQ(check("1 ")->text(), "1");
}

// The same check through the public headers.
TEST(JsonParse, TextOfOneValue_IsKeptByteForByte) {
    auto const json = Json::parse(" {\"a\" : 1.0}\n");
    ASSERT_TRUE(json);
    EXPECT_EQ(*json, Json::trusted("{\"a\" : 1.0}"));
}

TEST(JsonParse, TextThatIsNotOneValue_IsRefused) {
    EXPECT_EQ(Json::parse("{\"what\":\"a\"").error().code, Code::bad_json);
    EXPECT_EQ(Json::parse("1},\"x\":{\"y\":2").error().code, Code::bad_json);
    EXPECT_EQ(Json::parse("\"\xff\"").error().code, Code::bad_json);
    EXPECT_EQ(Json::parse(nested(100'000, "[", "]")).error().code, Code::bad_json);
    EXPECT_EQ(Json::parse("{\"a\":1,\"a\":2}").error().code, Code::bad_number_or_key);
}

TEST(Check, Depth_IsLimitedForArraysAndObjects) {
    EXPECT_TRUE(check(nested(depth_max, "[", "]")));
    EXPECT_TRUE(check(nested(depth_max, "{\"a\":", "}")));
    EXPECT_TRUE(check(nested(depth_max / 2, "[{\"a\":", "}]")));
    for (std::size_t const depth : {depth_max + 1, std::size_t{10'000}, std::size_t{1'000'000}}) {
        auto const arrays = check(nested(depth, "[", "]"));
        ASSERT_FALSE(arrays);
        EXPECT_EQ(arrays.error().code, Code::bad_json);
        EXPECT_EQ(arrays.error().detail, "nested deeper than 64 levels (offset 64)");
        EXPECT_FALSE(check(nested(depth, "{\"a\":", "}")));
        EXPECT_FALSE(check(std::string(depth, '[')));
    }
}

struct Bad {
    std::string text;
    Code code;
    std::string detail;
};

class Refused : public testing::TestWithParam<Bad> {};

TEST_P(Refused, Text_SaysWhy) {
    auto const json = check(GetParam().text);
    ASSERT_FALSE(json) << GetParam().text;
    EXPECT_EQ(json.error().code, GetParam().code) << GetParam().text;
    EXPECT_EQ(json.error().detail, GetParam().detail) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, Refused,
    testing::Values(Bad{"", Code::bad_json, "no JSON value (offset 0)"},
                    Bad{"  \n", Code::bad_json, "no JSON value (offset 0)"},
                    Bad{"{", Code::bad_json, "unexpected end of text (offset 1)"},
                    Bad{" [1,", Code::bad_json, "unexpected end of text (offset 4)"},
                    Bad{"{\"a\":1", Code::bad_json, "unexpected end of text (offset 6)"},
                    Bad{"\"abc", Code::bad_json, "unexpected end of text (offset 4)"},
                    Bad{"tru", Code::bad_json, "unexpected end of text (offset 3)"},
                    Bad{"NaN", Code::bad_json, "not JSON (offset 0)"},
                    Bad{"Infinity", Code::bad_json, "not JSON (offset 0)"},
                    Bad{"[1,]", Code::bad_json, "not JSON (offset 3)"},
                    Bad{"{\"a\":1,}", Code::bad_json, "not JSON (offset 7)"},
                    Bad{"{a:1}", Code::bad_json, "not JSON (offset 1)"},
                    Bad{"{'a':1}", Code::bad_json, "not JSON (offset 1)"},
                    Bad{"1 2", Code::bad_json, "text after the value (offset 2)"},
                    Bad{"{}{}", Code::bad_json, "text after the value (offset 2)"},
                    Bad{"01", Code::bad_json, "text after the value (offset 1)"},
                    Bad{"1 // x", Code::bad_json, "text after the value (offset 2)"}));

class Ungrammatical : public testing::TestWithParam<std::string> {};

TEST_P(Ungrammatical, Text_IsBadJson) {
    auto const json = check(GetParam());
    ASSERT_FALSE(json) << GetParam();
    EXPECT_EQ(json.error().code, Code::bad_json) << json.error().detail;
}

INSTANTIATE_TEST_SUITE_P(Check, Ungrammatical,
                         testing::Values("-", "+1", ".5", "1.", "1e", "1e+", "- 1", "0x10",
                                         "-Infinity", "nul", "nulll", "TRUE", "[1 2]", "[,1]", "[",
                                         "]", "}", "{\"a\"}", "{\"a\":}", "{:1}", "{\"a\" 1}",
                                         "{1:2}", "{null:1}", "\"\n\"", "\"\t\"", "\"\\x41\"",
                                         "\"\\u12G4\"", "\"\\u123\"", "\"\\\"", "\"a\0b\""s, "\0"s,
                                         "1\0"s, "\xEF\xBB\xBF{}", "/*x*/1", "[1]//", "\"\\u{41}\"",
                                         "\v1", "\u00A01", "\"a", "'a'", "[\"a\",\"b]"));

class NotUtf8 : public testing::TestWithParam<std::string> {};

TEST_P(NotUtf8, ValuesAndKeys_AreBadJson) {
    for (std::string const& text :
         {"\"" + GetParam() + "\"", "{\"" + GetParam() + "\":1}",
          "[\"ok\",\"xx" + GetParam() + "yy\"]", "\"\\n" + GetParam() + "\"",
          "{\"\\n" + GetParam() + "\":\"\"}"}) {
        auto const json = check(text);
        ASSERT_FALSE(json) << text;
        EXPECT_EQ(json.error().code, Code::bad_json);
        EXPECT_TRUE(json.error().detail.starts_with("not UTF-8 (offset ")) << json.error().detail;
    }
}

INSTANTIATE_TEST_SUITE_P(Check, NotUtf8,
                         testing::Values("\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3",
                                         "\xE0\x80\x80", "\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82",
                                         "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
                                         "\xFE", "\xFF", "\xF0\x9F\x98"));

class LoneSurrogate : public testing::TestWithParam<std::string> {};

TEST_P(LoneSurrogate, ValuesAndKeys_AreRefused) {
    std::string const padding = "                    ";  // long and short texts take other paths
    for (std::string const& text :
         {"\"" + GetParam() + "\"", "[\"" + GetParam() + "\",\"" + padding + "\"]",
          "{\"" + GetParam() + "\":1}", "[{\"a" + GetParam() + "\":\"" + padding + "\"}]"}) {
        auto const json = check(text);
        ASSERT_FALSE(json) << text;
        EXPECT_EQ(json.error().code, Code::bad_number_or_key) << text << " " << json.error().detail;
        EXPECT_TRUE(json.error().detail.starts_with("lone surrogate")) << json.error().detail;
    }
}

INSTANTIATE_TEST_SUITE_P(Check, LoneSurrogate,
                         testing::Values("\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\ud83dx",
                                         "\\ud83d\\n", "\\ud83d\\u0041", "\\ud83d\\ud83d",
                                         "\\ude00\\ud83d", "x\\ud83d\\ude00\\ud83d"));

class TooLargeNumber : public testing::TestWithParam<std::string> {};

TEST_P(TooLargeNumber, AnyLevel_IsRefused) {
    for (std::string const& text :
         {GetParam(), "[" + GetParam() + "]", "{\"a\":-" + GetParam() + "}"}) {
        auto const json = check(text);
        ASSERT_FALSE(json) << text;
        EXPECT_EQ(json.error().code, Code::bad_number_or_key) << json.error().detail;
    }
}

INSTANTIATE_TEST_SUITE_P(Check, TooLargeNumber,
                         testing::Values("1e999", "1e309", "1.8e308", "1E999999",
                                         "1e99999999999999999999", "0.1e310",
                                         "1" + std::string(400, '0'),
                                         "1" + std::string(400, '0') + ".5"));

struct DuplicateKey {
    std::string text, key;
};

class Duplicate : public testing::TestWithParam<DuplicateKey> {};

TEST_P(Duplicate, Key_IsRefusedAndNamed) {
    auto const json = check(GetParam().text);
    ASSERT_FALSE(json) << GetParam().text;
    EXPECT_EQ(json.error().code, Code::bad_number_or_key);
    EXPECT_TRUE(json.error().detail.starts_with("duplicate key " + GetParam().key + " (offset "))
        << json.error().detail;
}

INSTANTIATE_TEST_SUITE_P(
    Check, Duplicate,
    testing::Values(DuplicateKey{"{\"a\":1,\"a\":1}", "\"a\""},
                    DuplicateKey{"{\"a\":1,\"b\":2,\"a\":3}", "\"a\""},
                    DuplicateKey{"{\"\":1,\"\":2}", "\"\""},
                    DuplicateKey{"[[{\"x\":{\"a\":1,\"a\":1}}]]", "\"a\""},
                    DuplicateKey{"{\"a\":{\"c\":1},\"b\":{\"c\":1},\"a\":1}", "\"a\""},
                    DuplicateKey{"{\"a\":1,\"\\u0061\":2}", "\"a\""},
                    DuplicateKey{"{\"\\u0061b\":1,\"a\\u0062\":2}", "\"ab\""},
                    DuplicateKey{"{\"\U0001F600\":1,\"\\ud83d\\ude00\":2}", "\"\U0001F600\""},
                    DuplicateKey{"{\"/\":1,\"\\/\":2}", "\"/\""},
                    DuplicateKey{"{\"\\n\":1,\"\\u000a\":2}", "\"\\n\""}));

TEST(Check, OtherCaseOrNormalisation_IsAnotherKey) {
    EXPECT_TRUE(check("{\"\u00e9\":1,\"e\u0301\":2}"));
    EXPECT_TRUE(check("{\"a\":1,\"A\":2}"));
}

TEST(Check, ManyThousandKeys_AreComparedQuickly) {
    std::string text = "{";
    for (int i = 0; i < 100'000; ++i) {
        text += "\"k" + std::to_string(i) + "\":0,";
    }
    EXPECT_TRUE(check(text + "\"last\":0}"));
    auto const twice = check(text + "\"k50000\":0}");
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, Code::bad_number_or_key);
}

TEST(Check, LongKey_IsNamedInPart) {
    std::string const key(5'000, 'k');
    auto const twice = check("{\"" + key + "\":1,\"" + key + "\":2}");
    ASSERT_FALSE(twice);
    EXPECT_LT(twice.error().detail.size(), 200u);
}

TEST(Check, LongEscapedKey_IsCompared) {
    std::string const tail(10'000, 'k');
    EXPECT_FALSE(check("{\"\\u0061" + tail + "\":1,\"a" + tail + "\":2}"));
    EXPECT_TRUE(check("{\"\\u0061" + tail + "\":1,\"b" + tail + "\":2}"));
}

}  // namespace
}  // namespace dormouse::json
