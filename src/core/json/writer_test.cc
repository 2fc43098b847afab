#include "json/json.h"
#include "json/spell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dormouse::json {
namespace {

std::string number(double value) { return Writer().value(value).take(); }

TEST(Writer, Commas_AreWhereTheyBelong) {
    Writer writer;
    writer.begin_object()
        .member("a", 1)
        .key("b")
        .begin_array()
        .value(true)
        .null()
        .begin_object()
        .end_object()
        .begin_array()
        .end_array()
        .value("x")
        .end_array()
        .member("c", std::optional<int>())
        .member("d", std::optional<std::string>("y"))
        .member("e", Json::trusted("[1]"))
        .member_raw("f", "{\"g\":2}")
        .member_null("h")
        .end_object();
    EXPECT_EQ(writer.take(),
              "{\"a\":1,\"b\":[true,null,{},[],\"x\"],\"c\":null,\"d\":\"y\","
              "\"e\":[1],\"f\":{\"g\":2},\"h\":null}");
}

TEST(Writer, Take_LeavesItEmptyAndReady) {
    Writer writer;
    EXPECT_EQ(writer.begin_array().value(1).end_array().take(), "[1]");
    EXPECT_EQ(writer.text(), "");
    EXPECT_EQ(writer.value("next").json().text(), "\"next\"");
}

TEST(Writer, TakenText_KeepsItsBytes) {
    Writer first;
    std::string const small = first.begin_object().member("a", "first").end_object().take();
    Writer second;
    Writer third;
    second.begin_array().value("second");
    third.begin_array().value(std::string(100'000, 'x'));
    std::string const middle = second.end_array().take();
    std::string const large = third.end_array().take();
    EXPECT_EQ(small, R"({"a":"first"})");
    EXPECT_EQ(middle, R"(["second"])");
    EXPECT_EQ(large, "[\"" + std::string(100'000, 'x') + "\"]");
    EXPECT_EQ(second.value(1).take(), "1");
}

TEST(Writer, Keys_AreEscaped) {
    Writer out;
    out.begin_object().member("a\"b", 1).member("\xff", 2).member("a long plain key", 3);
    EXPECT_EQ(out.end_object().take(), "{\"a\\\"b\":1,\"\uFFFD\":2,\"a long plain key\":3}");
}

TEST(IsPlain, AnyByteAtAnyPlace_IsWhatAppendQuotedEscapes) {
    for (std::size_t size = 0; size < 40; ++size) {
        EXPECT_TRUE(is_plain(std::string(size, 'x'))) << size;
        for (std::size_t at = 0; at < size; ++at) {
            for (int byte = 0; byte < 256; ++byte) {
                std::string text(size, 'x');
                text[at] = static_cast<char>(byte);
                bool const plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
                ASSERT_EQ(is_plain(text), plain) << size << " " << at << " " << byte;
            }
        }
    }
}

TEST(Writer, AbsentView_IsWrittenAsNull) {
    View const object(std::string_view("{}"));
    EXPECT_EQ(Writer().begin_object().member_raw("a", object["a"].raw()).end_object().take(),
              "{\"a\":null}");
}

TEST(Writer, Integers_OfEverySizeAreWritten) {
    Writer writer;
    writer.begin_array().value(INT64_MIN).value(UINT64_MAX).value(-1).value(0u).end_array();
    EXPECT_EQ(writer.take(), "[-9223372036854775808,18446744073709551615,-1,0]");
}

TEST(Writer, OnlyTheRequired_IsEscaped) {
    EXPECT_EQ(quote(""), "\"\"");
    EXPECT_EQ(quote("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
    EXPECT_EQ(quote(std::string_view("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
    EXPECT_EQ(quote("\u2028é€\U0001F600"), "\"\u2028é€\U0001F600\"");
}

TEST(Writer, LongAndShortTexts_AreEscapedAtEveryPlace) {
    for (std::size_t length = 0; length < 34; ++length) {
        for (std::size_t place = 0; place <= length; ++place) {
            for (std::string_view const special : {"\"", "\n", "é", "\xff", "\x01"}) {
                std::string text(length, 'x');
                text.insert(place, special);
                std::string const written = quote(text);
                auto const read = check(written);
                ASSERT_TRUE(read) << written;
                std::string expected(length, 'x');
                expected.insert(place, special == "\xff" ? "\uFFFD" : special);
                EXPECT_EQ(View(*read).string(), expected);
            }
        }
    }
}

TEST(Writer, IllFormedUtf8_IsReplaced) {
    EXPECT_EQ(quote("a\xff"
                    "b\xE2\x82"
                    "c\xF0\x9F\x98"),
              "\"a\uFFFDb\uFFFDc\uFFFD\"");
    EXPECT_EQ(quote("\xED\xA0\x80"), "\"\uFFFD\uFFFD\uFFFD\"");
}

TEST(Writer, Doubles_LookAsInEcmaScript) {
    struct {
        double value;
        std::string_view text;
    } const table[] = {
        {0.0, "0"},
        {-0.0, "0"},
        {1.0, "1"},
        {-1.5, "-1.5"},
        {0.1, "0.1"},
        {0.000001, "0.000001"},
        {0.0000001, "1e-7"},
        {1.5e-7, "1.5e-7"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e20, "100000000000000000000"},
        {1e21, "1e+21"},
        {1.5e300, "1.5e+300"},
        {1234567.891, "1234567.891"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {9007199254740992.0, "9007199254740992"},
        {1.0 / 3.0, "0.3333333333333333"},
    };
    for (auto const& [value, text] : table) {
        EXPECT_EQ(number(value), text);
    }
}

// Appendix B of RFC 8785: the bits of a double and its text.
TEST(Writer, Rfc8785_SampleNumbers) {
    struct {
        std::uint64_t bits;
        std::string_view text;
    } const table[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (auto const& [bits, text] : table) {
        EXPECT_EQ(number(std::bit_cast<double>(bits)), text);
    }
}

TEST(WriterDeathTest, Misuse_StopsTheProcess) {
    EXPECT_DEATH(Writer().begin_object().value(1), "broken invariant");
    EXPECT_DEATH(Writer().begin_array().key("a"), "broken invariant");
    EXPECT_DEATH(Writer().key("a"), "broken invariant");
    EXPECT_DEATH(Writer().begin_object().key("a").key("b"), "broken invariant");
    EXPECT_DEATH(Writer().begin_object().key("a").end_object(), "broken invariant");
    EXPECT_DEATH(Writer().begin_object().end_array(), "broken invariant");
    EXPECT_DEATH(Writer().value(1).value(2), "broken invariant");
    EXPECT_DEATH(static_cast<void>(Writer().begin_array().take()), "broken invariant");
    EXPECT_DEATH(static_cast<void>(Writer().take()), "broken invariant");
    EXPECT_DEATH(Writer().value(std::nan("")), "broken invariant");
    EXPECT_DEATH(Writer().value(std::numeric_limits<double>::infinity()), "broken invariant");
}

}  // namespace
}  // namespace dormouse::json
