#include "base/text/text.h"

#include "base/check.h"
#include "base/text/append.h"
#include "base/text/chars.h"
#include "base/text/utf8.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

std::vector<std::uint8_t> bytes(std::string_view text) { return {text.begin(), text.end()}; }

TEST(Base64url, Rfc4648_KnownAnswersWithoutPadding) {
    EXPECT_EQ(base64url(bytes("")), "");
    EXPECT_EQ(base64url(bytes("f")), "Zg");
    EXPECT_EQ(base64url(bytes("fo")), "Zm8");
    EXPECT_EQ(base64url(bytes("foo")), "Zm9v");
    EXPECT_EQ(base64url(bytes("foobar")), "Zm9vYmFy");
    EXPECT_EQ(base64url(bytes("\xfb\xff\xbf")), "-_-_");
}

TEST(Base64url, SixteenBytes_ComeBack) {
    for (int round = 0; round < 256; ++round) {
        Bits128 bits;
        for (std::size_t i = 0; i < bits.size(); ++i) {
            bits[i] = static_cast<std::uint8_t>(static_cast<std::size_t>(round) * 37 + i * 101);
        }
        EXPECT_EQ(parse_base64url_128(base64url(bits)), bits);
    }
}

TEST(Base64url, OtherSpelling_IsRefused) {
    std::string const good = base64url(Bits128{});
    ASSERT_TRUE(parse_base64url_128(good));
    EXPECT_FALSE(parse_base64url_128(good.substr(1)));
    EXPECT_FALSE(parse_base64url_128(good + "A"));
    EXPECT_FALSE(parse_base64url_128(good.substr(0, 21) + "B")) << "unused bits are not zero";
    EXPECT_TRUE(parse_base64url_128(good.substr(0, 21) + "Q"));
    for (char const c : std::string("+/=. \n\0\x80", 8)) {
        EXPECT_FALSE(parse_base64url_128(good.substr(0, 10) + c + good.substr(11))) << int(c);
    }
}

TEST(Append, TextBefore_Stays) {
    std::string text = "id_";
    append_base64url(text, bytes("foobar"));
    text += '_';
    append_number(text, 0);
    append_number(text, 18'446'744'073'709'551'615U);
    append_base64url(text, {});
    EXPECT_EQ(text, "id_Zm9vYmFy_018446744073709551615");
}

TEST(LowerCase, Comparison_IsThatOfLowerCase) {
    for (std::string_view const text : {"bearer ", "Bearer ", "BEARER ", "bearer", "bearex ", ""})
        EXPECT_EQ(is_lower_case_of("bearer ", text), lower_case(text) == "bearer ") << text;
    EXPECT_FALSE(is_lower_case_of("Bearer", "Bearer"));
}

TEST(Hex, Digits_AreLowerCase) { EXPECT_EQ(hex(bytes(std::string("\x00\x0f\xAB", 3))), "000fab"); }

TEST(ParseNumber, OnlyPlainDecimals_AreTaken) {
    EXPECT_EQ(parse_number("0"), 0u);
    EXPECT_EQ(parse_number("18446744073709551615"), ~std::uint64_t{0});
    for (std::string_view const bad :
         {"", "00", "01", "+1", "-1", " 1", "1 ", "1a", "0x1", "18446744073709551616", "1e3"}) {
        EXPECT_FALSE(parse_number(bad)) << bad;
    }
}

TEST(ValidUtf8, EveryScalarValue_IsTaken) {
    for (char32_t code = 0; code <= 0x10FFFF; code += 7) {
        if (code >= 0xD800 && code < 0xE000) {
            continue;
        }
        std::string text = "padding ";
        append_utf8(text, code);
        ASSERT_TRUE(valid_utf8(text)) << static_cast<unsigned>(code);
        ASSERT_EQ(decode_utf8(std::string_view(text).substr(8)).code, code);
    }
}

TEST(ValidUtf8, IllFormedSequences_AreRefusedAnywhere) {
    for (std::string_view const bad :
         {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE0\x9F\xBF",
          "\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xF0\x9F\x98"}) {
        EXPECT_FALSE(valid_utf8(bad));
        for (std::size_t before = 0; before < 17; ++before) {
            EXPECT_FALSE(valid_utf8(std::string(before, 'x') + std::string(bad) + "tail......"));
        }
    }
    EXPECT_TRUE(valid_utf8(""));
}

TEST(DecodeUtf8, IllFormedSequence_TakesItsLongestValidPrefix) {
    EXPECT_EQ(decode_utf8("\xF0\x9F\x98").length, 3);
    EXPECT_EQ(decode_utf8("\xF0\x9F\x98x").length, 3);
    EXPECT_EQ(decode_utf8("\xED\xA0\x80").length, 1);
    EXPECT_EQ(decode_utf8("\x80\x80").length, 1);
    EXPECT_FALSE(decode_utf8("\xF0\x9F\x98").valid);
}

TEST(EscapeForTerminal, OrdinaryText_IsUnchanged) {
    for (std::string_view const text : {"", "plain", "Grüße, 世界", "❤️ ok 👍"}) {
        EXPECT_EQ(escape_for_terminal(text), text);
    }
}

TEST(EscapeForTerminal, InterpretedOrHidden_IsEscaped) {
    EXPECT_EQ(escape_for_terminal("\x1b[2J"), "\\u{1b}[2J");
    EXPECT_EQ(escape_for_terminal("a\r\nb\t"), "a\\u{d}\\u{a}b\\u{9}");
    EXPECT_EQ(escape_for_terminal(std::string_view("\0", 1)), "\\u{0}");
    EXPECT_EQ(escape_for_terminal("\x7f\u009b"), "\\u{7f}\\u{9b}");
    EXPECT_EQ(escape_for_terminal("\u202Etxt.exe\u202C"), "\\u{202e}txt.exe\\u{202c}");
    EXPECT_EQ(escape_for_terminal("\u2066\u2069\u200E\u200F\u061C"),
              "\\u{2066}\\u{2069}\\u{200e}\\u{200f}\\u{61c}");
    EXPECT_EQ(escape_for_terminal("a\u200Bb\u200Dc\uFEFFd"), "a\\u{200b}b\\u{200d}c\\u{feff}d");
    EXPECT_EQ(escape_for_terminal("\U000E0041"), "\\u{e0041}");
    EXPECT_EQ(escape_for_terminal("\uFFF0\u2065\U000E0080"), "\\u{fff0}\\u{2065}\\u{e0080}");
    EXPECT_EQ(escape_for_terminal("\uFFF9\u034F\u3164"), "\\u{fff9}\\u{34f}\\u{3164}");
}

TEST(EscapeForTerminal, KeepNewlines_KeepsLayout) {
    EXPECT_EQ(escape_for_terminal("a\n\tb\r\n", true), "a\n\tb\\u{d}\n");
    EXPECT_EQ(escape_for_terminal("a\u2028b", true), "a\\u{2028}b");
}

TEST(EscapeForTerminal, BytesThatAreNotUtf8_AreShown) {
    EXPECT_EQ(escape_for_terminal("a\xff\x9b\xE2\x82z"), "a\\x{ff}\\x{9b}\\x{e2}\\x{82}z");
}

TEST(Nearest, Nearest_FindsALikelyTypingError) {
    std::string_view const names[] = {"pendingID", "sessionID", "result", "error", "payload", "at"};
    EXPECT_EQ(nearest("pendingId", names), "pendingID");
    EXPECT_EQ(nearest("sesionID", names), "sessionID");
    EXPECT_EQ(nearest("reslut", names), "result") << "neighbours swapped";
    EXPECT_EQ(nearest("errors", names), "error");
}

TEST(Nearest, DistantWord_FindsNone) {
    std::string_view const names[] = {"pendingID", "result", "at"};
    EXPECT_EQ(nearest("title", names), "");
    EXPECT_EQ(nearest("by", names), "");
    EXPECT_EQ(nearest("", names), "");
    EXPECT_EQ(nearest(std::string(100'000, 'r'), names), "");
    EXPECT_EQ(nearest("result", {}), "");
}

TEST(CheckDeathTest, FailedCheck_PrintsItsCondition) {
    EXPECT_DEATH(CHECK(1 + 1 == 3), "broken invariant: 1 \\+ 1 == 3");
}

TEST(Base64, Rfc4648_AgreesBothWays) {
    for (auto const& [bytes, text] : {std::pair<std::string, std::string>{"", ""},
                                      {"f", "Zg=="},
                                      {"fo", "Zm8="},
                                      {"foo", "Zm9v"},
                                      {"foob", "Zm9vYg=="},
                                      {"\xFB\xFF\xBF", "+/+/"}}) {
        EXPECT_EQ(base64(std::vector<std::uint8_t>(bytes.begin(), bytes.end())), text);
        EXPECT_EQ(parse_base64(text), bytes);
    }
    for (std::string_view const text :
         {"Z", "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm8=Zm8=", "-_-_", "Zm 9", "===="})
        EXPECT_EQ(parse_base64(text), std::nullopt) << text;
}

TEST(Utf8, RepairedUtf8_IllFormedSequences_BecomeReplacementCharacters) {
    EXPECT_EQ(repaired_utf8("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
    EXPECT_EQ(repaired_utf8("\xff\xfe go"), "\uFFFD\uFFFD go");
    EXPECT_EQ(repaired_utf8("cut \xE2\x82"), "cut \uFFFD");
    EXPECT_EQ(repaired_utf8(""), "");
}

TEST(Utf8, Cut_KeepsCharactersWhole) {
    EXPECT_EQ(cut_utf8("abc", 3), "abc");
    EXPECT_EQ(cut_utf8("abc", 2), "ab");
    EXPECT_EQ(cut_utf8("a\xE2\x82\xACz", 3), "a");
    EXPECT_EQ(cut_utf8("a\xE2\x82\xACz", 4), "a\xE2\x82\xAC");
    EXPECT_EQ(cut_utf8("\xE2\x82\xAC", 2), "");
    EXPECT_EQ(cut_utf8("\x80\x80\x80", 2), "") << "what is no UTF-8 ends, too";
    EXPECT_EQ(cut_utf8("", 0), "");
}

TEST(Utf8, Tail_KeepsCharactersWhole) {
    EXPECT_EQ(tail_utf8("abc", 3), "abc");
    EXPECT_EQ(tail_utf8("abc", 2), "bc");
    EXPECT_EQ(tail_utf8("a\xE2\x82\xACz", 3), "z");
    EXPECT_EQ(tail_utf8("a\xE2\x82\xACz", 4), "\xE2\x82\xACz");
    EXPECT_EQ(tail_utf8("\xE2\x82\xAC", 2), "");
    EXPECT_EQ(tail_utf8("\x80\x80\x80", 2), "") << "what is no UTF-8 ends, too";
    EXPECT_EQ(tail_utf8("abc", 0), "");
}

TEST(Utf8, Piece_HasAtLeastOneCharacter) {
    EXPECT_EQ(piece_utf8("abc", 2), "ab");
    EXPECT_EQ(piece_utf8("a\xE2\x82\xACz", 3), "a");
    EXPECT_EQ(piece_utf8("\xE2\x82\xACz", 2), "\xE2\x82\xAC");
    EXPECT_EQ(piece_utf8("abc", 0), "a");
    EXPECT_EQ(piece_utf8("\x80\x80\x80", 2), "\x80\x80\x80") << "what is no UTF-8 ends, too";
    EXPECT_EQ(piece_utf8("", 1), "");
}

TEST(Utf8, Count_IsOfCharacters) {
    EXPECT_EQ(count_utf8("a\xE2\x82\xACz"), 3U);
    EXPECT_EQ(count_utf8(""), 0U);
}

TEST(Chars, EveryByte_HasTheClassOfItsAsciiCharacter) {
    constexpr std::string_view upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    constexpr std::string_view lower = "abcdefghijklmnopqrstuvwxyz";
    for (int byte = 0; byte < 256; ++byte) {
        char const c = static_cast<char>(byte);
        EXPECT_EQ(is_digit(c), std::string_view("0123456789").contains(c)) << byte;
        EXPECT_EQ(is_hex_digit(c), std::string_view("0123456789abcdefABCDEF").contains(c)) << byte;
        EXPECT_EQ(is_upper_letter(c), upper.contains(c)) << byte;
        EXPECT_EQ(is_lower_letter(c), lower.contains(c)) << byte;
        EXPECT_EQ(is_letter(c), upper.contains(c) || lower.contains(c)) << byte;
        EXPECT_EQ(is_letter_or_digit(c), is_letter(c) || is_digit(c)) << byte;
        auto const at = upper.find(c);
        EXPECT_EQ(lower_case(c), at == upper.npos ? c : lower[at]) << byte;
    }
}

TEST(Chars, MadeOf_LettersDigitsAndMore) {
    EXPECT_TRUE(is_made_of("aZ09", ""));
    EXPECT_TRUE(is_made_of("a-b_c", "_-"));
    EXPECT_FALSE(is_made_of("a-b.c", "_-"));
    EXPECT_FALSE(is_made_of("\xC3\xBC", "_-"));
    EXPECT_TRUE(is_made_of("", ""));
    for (std::string_view const name : {"A", "_", "PATH", "a1_"})
        EXPECT_TRUE(is_variable_name(name)) << name;
    for (std::string_view const name : {"", "1A", "A-B", "A=B", "\xC3\xBC"})
        EXPECT_FALSE(is_variable_name(name)) << name;
}

}  // namespace
}  // namespace dormouse
