#include "http/objects/question_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(QuestionHtml, PlainText_IsTheHeading) {
    auto const html = question_html("Deploy A?", "Waiting");
    EXPECT_EQ(html.heading, "Deploy A?");
    EXPECT_EQ(html.body, "");
    EXPECT_EQ(question_html("How\nmany?", "Waiting").heading, "How\nmany?");
    EXPECT_EQ(question_html("", "Waiting").heading, "");
    EXPECT_EQ(question_html("a\nb\n\nc", "Waiting").heading, "a<br>b");
    EXPECT_EQ(question_html("a\nb\n\nc", "Waiting").body, "<div class=\"md\">\n<p>c</p>\n</div>\n");
    std::string const big(20'000, '<');
    EXPECT_THAT(question_html(big, "Waiting").heading, HasSubstr("&lt;&lt;&lt;"));
}

TEST(QuestionHtml, Markdown_IsRendered) {
    auto const html = question_html(
        "Which **region**?\n\n- eu-central-1\n- `us-east-1`\n\n2. a\n5. *b*\n\n```\n<x>\n```",
        "Waiting");
    EXPECT_EQ(html.heading, "Which <strong>region</strong>?");
    EXPECT_THAT(html.body, HasSubstr("<ul>\n<li>eu-central-1</li>\n<li><code>us-east-1</code>"));
    EXPECT_THAT(html.body, HasSubstr("</ul>\n<ol>\n<li value=\"2\">a</li>\n"
                                     "<li value=\"5\"><em>b</em></li>\n</ol>\n"));
    EXPECT_THAT(html.body, HasSubstr("<pre>&lt;x&gt;</pre>\n"));
    EXPECT_THAT(html.body, HasSubstr("as it was sent</summary><pre>Which **region**?\n"));
}

TEST(QuestionHtml, QuestionThatBeginsWithAList_GetsTheOtherHeading) {
    auto const html = question_html("- a\n- b", "Waiting: <ask>");
    EXPECT_EQ(html.heading, "Waiting: &lt;ask&gt;");
    EXPECT_THAT(html.body, HasSubstr("<li>a</li>"));
}

TEST(QuestionHtml, HtmlInAnyPlace_StaysText) {
    for (std::string const place :
         {"", "- ", "> ", "# ", "**", "`", "```\n", "[", "![x](", "1. ", "    ", "~~~ ", "- - "}) {
        auto const html = question_html("a\n\n" + place + "<img src=x onerror=alert(1)>", "W");
        EXPECT_THAT(html.body, Not(HasSubstr("<img"))) << place;
        EXPECT_THAT(html.body, HasSubstr("&lt;img src=x onerror=alert(1)&gt;")) << place;
    }
    EXPECT_EQ(question_html("**[a](javascript:x)**", "W").heading,
              "<strong>[a](javascript:x)</strong>");
    EXPECT_EQ(question_html("**&lt; \x1b \xe2\x80\xae**", "W").heading,
              "<strong>&amp;lt; \\u{1b} \\u{202e}</strong>");
}

}  // namespace
}  // namespace dormouse::http
