#include "json/json.h"

#include "base/crypto/sha256.h"

#include <gtest/gtest.h>

namespace dormouse::json {
namespace {

std::string canonical_text(std::string_view text) {
    auto const json = check(text);
    EXPECT_TRUE(json) << text;
    return json ? json::canonical(*json) : "";
}

std::string digest(std::string_view text) { return digest_text(sha256(canonical_text(text))); }

// Computed independently over the RFC 8785 text.
TEST(Canonical, Digests_AreTheKnownOnes) {
    struct {
        std::string_view text, digest;
    } const table[] = {
        {"{}", "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
        {"null", "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"},
        {"{\"output\":{\"status\":\"ok\"}}",
         "9c1745a67e605f3eb5764677da1f609763b57c4936aa7bc3bacaaf49745553e1"},
        {"{\"error\":\"canceled\"}",
         "f98588d9d6fcd26834d669fda00c0668a5635872ed9b4a1d086fc146c27b0cf8"},
        {"{\"output\":null}", "7b3a021a00765f982fb2cecbf31d233100938a555627d8db9b86a19a08237286"},
        {"{\"c\":3,\"a\":1,\"b\":2}",
         "e6a3385fb77c287a712e7f406a451727f0625041823ecf23bea7ef39b2e39805"},
        {"{\"target\":\"A\"}", "b036ba8d5d066c7896b84aced286f17130a153cd8b3064c2791613f1ba0fa453"},
    };
    for (auto const& [text, expected] : table) {
        EXPECT_EQ(digest(text), "sha256:" + std::string(expected)) << text;
    }
}

TEST(Canonical, Rfc8785_Example) {
    EXPECT_EQ(canonical_text(R"({
          "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        })"),
              "{\"literals\":[null,true,false],"
              "\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
              "\"string\":\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST(Canonical, Rfc8785_SortingExample) {
    EXPECT_EQ(canonical_text(R"({"\u20ac":"Euro Sign","\r":"Carriage Return",
                            "\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",
                            "\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control",
                            "\u00f6":"Latin Small Letter O With Diaeresis"})"),
              "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\","
              "\"\u00f6\":\"Latin Small Letter O With Diaeresis\",\"\u20ac\":\"Euro Sign\","
              "\"\U0001F600\":\"Emoji: Grinning Face\","
              "\"\uFB33\":\"Hebrew Letter Dalet With Dagesh\"}");
}

TEST(Canonical, KeysThatShareASurrogate_HaveAnOrder) {
    std::string const one = "{\"\U0001F600\":1,\"\U0001F601\":2}";
    EXPECT_EQ(canonical_text("{\"\U0001F601\":2,\"\U0001F600\":1}"), one);
    EXPECT_EQ(canonical_text(one), one);
}

TEST(Canonical, ShorterKey_ComesBeforeALongerOneThatItBegins) {
    EXPECT_EQ(canonical_text("{\"ab\":1,\"a\":2,\"\":3,\"a\\u0000\":4}"),
              "{\"\":3,\"a\":2,\"a\\u0000\":4,\"ab\":1}");
}

TEST(Canonical, Numbers_HaveOneForm) {
    struct {
        std::string_view text, expected;
    } const table[] = {
        {"0", "0"},
        {"-0", "0"},
        {"-0.000", "0"},
        {"0E1122", "0"},
        {"0e-9", "0"},
        {"1000000", "1000000"},
        {"1000000.0", "1000000"},
        {"1e6", "1000000"},
        {"10.00E+5", "1000000"},
        {"-1e0", "-1"},
        {"9007199254740991", "9007199254740991"},
        {"9007199254740992", "9007199254740992"},
        {"9007199254740993", "9007199254740993"},
        {"9007199254740993.0", "9007199254740993"},
        {"900719925474099.3e1", "9007199254740993"},
        {"-9007199254740993", "-9007199254740993"},
        {"18446744073709551616", "18446744073709551616"},
        {"100000000000000000000", "100000000000000000000"},
        {"1e20", "100000000000000000000"},
        {"1e21", "1e+21"},
        {"1000000000000000000000", "1e+21"},
        {"1000000000000000000001", "1.000000000000000000001e+21"},
        {"1.000000000000000000001e21", "1.000000000000000000001e+21"},
        {"295147905179352825856", "295147905179352825856"},
        {"295147905179352830000", "295147905179352830000"},
        {"1.7976931348623157e308", "1.7976931348623157e+308"},
        {"0.1", "0.1"},
        {"1e-1", "0.1"},
        {"0.10000000000000000555", "0.1"},
        {"1e-7", "1e-7"},
        {"0.0000001", "1e-7"},
        {"1e-400", "0"},
        {"-1e-400", "0"},
        {"123456789012345678901.5", "123456789012345680000"},
        {"1.0000000000000000000001", "1"},
    };
    for (auto const& [text, expected] : table) {
        EXPECT_EQ(canonical_text(text), expected) << text;
        EXPECT_EQ(canonical_text(expected), expected) << text;
    }
}

TEST(Canonical, LongInteger_KeepsAllItsDigits) {
    std::string digits = "1";
    for (int i = 1; i < 300; ++i) {
        digits += static_cast<char>('0' + i % 9 + 1);
    }
    std::string const expected = "1." + digits.substr(1) + "e+299";
    EXPECT_EQ(canonical_text(digits), expected);
    EXPECT_EQ(canonical_text(expected), expected);
    digits.back() = '0';
    EXPECT_NE(canonical_text(digits), expected);
}

TEST(Canonical, SpellingOfStrings_DoesNotMatter) {
    EXPECT_EQ(canonical_text("\"\\u0041\\/\\u00e9\""), canonical_text("\"A/é\""));
    EXPECT_EQ(canonical_text("{\"\\u0061\":1}"), "{\"a\":1}");
    EXPECT_EQ(canonical_text("\"\\u001F\\u007f\""), "\"\\u001f\x7f\"");
}

TEST(Canonical, Arrays_KeepTheirOrder) {
    EXPECT_EQ(canonical_text("[ 3, 1 , 2 ]"), "[3,1,2]");
    EXPECT_EQ(canonical_text("[{ },[ ]]"), "[{},[]]");
}

TEST(CanonicalObject, Null_IsEmptyElseHoldsTheMember) {
    EXPECT_EQ(canonical_object("output", Json::trusted("{\"b\":1.0,\"a\":\"x\"}")),
              "{\"output\":{\"a\":\"x\",\"b\":1}}");
    EXPECT_EQ(canonical_object("output", Json()), "{}");
    EXPECT_EQ(digest_text(sha256(canonical_object("error", Json::trusted("\"canceled\"")))),
              digest("{\"error\":\"canceled\"}"));
}

}  // namespace
}  // namespace dormouse::json
