#include "base/text/markdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace dormouse::markdown {
namespace {

// "<p>Which <strong>region</strong></p>": the pieces in short.
std::string shown(std::string_view text) {
    auto const all = pieces(text);
    if (!all) return "as it is";
    constexpr std::array names{"p",      "h",  "list", "item", "pre",
                               "strong", "em", "code", "text", "br"};
    std::string out;
    for (Piece const& piece : *all) {
        std::string name = names.at(static_cast<std::size_t>(piece.mark));
        if (piece.mark == Mark::list) name = piece.ordered ? "ol" : "ul";
        if (piece.mark == Mark::item && !piece.text.empty()) name += " " + piece.text;
        if (piece.mark == Mark::text)
            out += piece.text;
        else
            out += (piece.edge == Piece::Edge::end ? "</" : "<") + name + ">";
    }
    return out;
}

TEST(Pieces, QuestionOfAModel_HasParagraphsListsAndMarks) {
    EXPECT_EQ(shown("Which **region** should I\ndeploy to?\n\n- `eu-central-1`\n- *us*-east-1"),
              "<p>Which <strong>region</strong> should I<br>deploy to?</p><ul>"
              "<item><code>eu-central-1</code></item><item><em>us</em>-east-1</item></ul>");
    EXPECT_EQ(shown("# Plan\r\n\r\n2. build\r\n5) ship\r\n\r\nnow"),
              "<h>Plan</h><ol><item 2>build</item><item 5>ship</item></ol><p>now</p>");
    EXPECT_EQ(shown("Run:\n```sh\n  rm *x*\n\n# y\n```\n? "),
              "<p>Run:</p><pre>sh\n  rm *x*\n\n# y</pre><p>? </p>");
}

TEST(Pieces, Lists_NestByTheirIndent) {
    EXPECT_EQ(shown("- a\n  - b\n    more\n  - c\n- d\n\n  e\nf\n1. g"),
              "<ul><item>a<ul><item>b<br>more</item><item>c</item></ul></item>"
              "<item>d<br>e<br>f</item></ul><ol><item 1>g</item></ol>");
    EXPECT_EQ(shown("- a\n  ```\n  x\n   y\n  ```\n  b\n\nc"),
              "<ul><item>a<pre>x\n y</pre>b</item></ul><p>c</p>");
}

TEST(Pieces, MarksWithoutAPartner_AreText) {
    for (std::string const text :
         {"a * b * c", "2*3*4", "snake_case_name", "**", "*", "`", "``a`", "****a****", "** a**",
          "-5", "1.5", "007. x", "#5", "####### x", "-", "1234567890. x"})
        EXPECT_EQ(shown(text), "<p>" + text + "</p>");
    EXPECT_EQ(shown("``a`b`` **x *y* z** (_q_)"),
              "<p><code>a`b</code> <strong>x <em>y</em> z</strong> (<em>q</em>)</p>");
    EXPECT_EQ(shown("*a\nb*"), "<p>*a<br>b*</p>");
}

TEST(Pieces, HtmlLinksAndDefinitions_AreText) {
    for (std::string const text :
         {"<b>x</b>", "[safe](http://evil.test \"now\")", "![cat](javascript:alert)",
          "[x]: http://evil.test", "a &lt; b", "> quote", "| a | b |", "\\*a\\*", "---"})
        EXPECT_EQ(shown(text), "<p>" + text + "</p>");
    EXPECT_EQ(shown("<!-- a\n-->"), "<p><!-- a<br>--></p>");
}

TEST(Pieces, TooLong_IsShownAsItIs) { EXPECT_EQ(shown(std::string(16'385, 'a')), "as it is"); }

// Letters, digits and all non-ASCII characters.
std::string letters_of(std::string_view text) {
    std::string out;
    std::ranges::copy_if(text, std::back_inserter(out), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c & 0x80) != 0;
    });
    return out;
}

// Every begin has its end, innermost first, and no letter or digit is lost or moved.
TEST(Pieces, AnyText_NestsAndSaysTheSame) {
    std::mt19937 random(7);
    std::string_view const alphabet = "ab10.*_`#>-+ \n\t[]()<>!\\&;:~|=\xc3\xa4  \n\n--``**";
    for (int round = 0; round < 2'000; ++round) {
        std::string text;
        for (std::size_t i = random() % 60; i > 0; --i)
            text += alphabet[random() % alphabet.size()];
        auto const all = pieces(text);
        std::vector<Mark> open;
        std::string after;
        for (Piece const& piece : all.value()) {
            after += letters_of(piece.text);
            if (piece.edge == Piece::Edge::begin) open.push_back(piece.mark);
            if (piece.edge != Piece::Edge::end) continue;
            ASSERT_FALSE(open.empty()) << text;
            ASSERT_EQ(open.back(), piece.mark) << text;
            open.pop_back();
        }
        ASSERT_TRUE(open.empty()) << text;
        ASSERT_EQ(after, letters_of(text)) << text;
        ASSERT_EQ(plain_text(text).find('\x1b'), std::string::npos);
    }
}

TEST(Pieces, NestedWithoutEnd_StaysCheap) {
    std::string text;
    for (std::size_t i = 0; i < 100; ++i) text += std::string(i, ' ') + "- a\n";
    EXPECT_TRUE(pieces(text));
    text.clear();
    while (text.size() < 16'000) text += "*a ";
    EXPECT_TRUE(pieces(text));
}

TEST(PlainText, Blocks_AreApartAndIndented) {
    EXPECT_EQ(plain_text("Which **region**?\n\n- eu\n  - west\n- us\n\nAnswer `soon`."),
              "Which region?\n- eu\n  - west\n- us\n\nAnswer `soon`.");
    EXPECT_EQ(plain_text("9. a\n10. b\n    c"), "9. a\n10. b\n    c");
    EXPECT_EQ(plain_text("Run\n\n```\nmake\n  all\n```\n\nnow?"),
              "Run\n\n    make\n      all\n\nnow?");
}

TEST(PlainText, ControlCharacters_AreEscaped) {
    EXPECT_EQ(plain_text("**a\x1b[2J**"), "a\\u{1b}[2J");
    EXPECT_EQ(plain_text("`\x1b`"), "`\\u{1b}`");
    EXPECT_EQ(plain_text(std::string(20'000, '\x1b')).find('\x1b'), std::string::npos);
}

TEST(PlainText, Pieces_StandBetweenTheirMarks) {
    Marks const marks{{"<", ">"}, {"/", "/"}, {"[", "]"}};
    EXPECT_EQ(plain_text("a **b** *c* `d`", marks), "a <b> /c/ [d]");
    EXPECT_EQ(plain_text("# Title\n\n- **a** `b`\n- *c*", marks), "<Title>\n- <a> [b]\n- /c/");
    EXPECT_EQ(plain_text("`**a**`", marks), "[**a**]");
}

TEST(PlainText, WrittenMarks_AreThoseOfMarkdown) {
    std::string const text = "a **b** *c* `d`\n- e\n- f";
    EXPECT_EQ(plain_text(text, written_marks), text);
}

}  // namespace
}  // namespace dormouse::markdown
