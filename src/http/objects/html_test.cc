#include "http/objects/html.h"

#include "http/objects/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SafeNext, PathOfThisServer_IsKept) {
    for (std::string const path : {"/", "/a/pnd_AAAAAAEXinbjDe5WMEYhEA_1_1_KGoT7YAtRkJgFqZeEhOjiw",
                                   "/sessions/ses_1?tab=2", "/a%20b"}) {
        EXPECT_EQ(safe_next(path), path);
    }
}

TEST(SafeNext, AnotherServer_LeadsToTheFirstPage) {
    for (std::string_view const path :
         {"", "//evil.test", "/\\evil.test", "\\\\evil.test", "https://evil.test", "evil.test",
          "/\t/evil.test", "/\n/evil.test", "/ /evil.test", "javascript:alert(1)", "///evil.test",
          "/a#b", "/<script>", "/'", "/\"", "/@evil.test:1", "/\xc3\xa4"}) {
        EXPECT_EQ(safe_next(path), "/") << path;
    }
    EXPECT_EQ(safe_next("/" + std::string(600, 'a')), "/");
}

// Browsers do not decode these: they stay paths of this server.
TEST(SafeNext, EncodedSlashes_StayEncoded) {
    EXPECT_EQ(safe_next("/%2f%2fevil.test"), "/%2f%2fevil.test");
    EXPECT_EQ(safe_next("%2f%2fevil.test"), "/");
}

HttpRequest from_browser() {
    HttpRequest request;
    request.id = "req_1";
    request.path = "/nothing";
    request.headers = {{"accept", "text/html,application/xhtml+xml,*/*;q=0.8"}};
    return request;
}

TEST(ForBrowser, Problem_BecomesAPageWithItsStatusAndHeaders) {
    auto const request = from_browser();
    for (Code const code :
         {Code::unauthenticated, Code::forbidden, Code::not_found, Code::method_not_allowed,
          Code::expired, Code::rate_limited, Code::internal}) {
        HttpReply const plain = problem_reply({code, "<b>What</b> happened."}, request);
        HttpReply const page = for_browser(plain, request);
        EXPECT_EQ(page.status, plain.status);
        EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
        EXPECT_THAT(page.body, HasSubstr("<html lang=\"en\">"));
        EXPECT_THAT(page.body, HasSubstr("<main>"));
        EXPECT_THAT(page.body, HasSubstr("content=\"light dark\""));
        EXPECT_THAT(page.body, HasSubstr("name=\"viewport\""));
        EXPECT_THAT(page.body, HasSubstr("&lt;b&gt;What&lt;/b&gt; happened."));
        EXPECT_THAT(page.body, HasSubstr("req_1"));
        EXPECT_THAT(page.body, Not(HasSubstr("<script")));
        for (auto const& header : plain.headers)
            EXPECT_THAT(page.headers, ::testing::Contains(header));
    }
}

TEST(ForBrowser, ApiClientsAndOtherReplies_StayUnchanged) {
    auto request = from_browser();
    HttpReply const json{.status = 200, .body = "{}"};
    EXPECT_EQ(for_browser(json, request).content_type, "application/json");
    request.headers = {{"accept", "*/*"}};
    HttpReply const problem = problem_reply({Code::not_found, ""}, request);
    EXPECT_EQ(for_browser(problem, request).content_type, "application/problem+json");
}

TEST(HtmlText, MarkupAndInvisibleCharacters_AreShown) {
    EXPECT_EQ(html_text("<a href='x'>&\"\n"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;\n");
    EXPECT_THAT(html_text("\xe2\x80\xae"), HasSubstr("202"));  // reverses the direction of text
}

TEST(TitleText, LongQuestion_IsCutBetweenCharacters) {
    EXPECT_EQ(title_text("\n Deploy?\nmore"), "Deploy?");
    EXPECT_EQ(title_text(""), "Dormouse");
    std::string umlauts = "x";
    for (int i = 0; i < 60; ++i) umlauts += "ä";
    EXPECT_EQ(title_text(umlauts), umlauts.substr(0, 79) + "…");
}

TEST(TimeHtml, Distance_IsRounded) {
    Time const now = from_ms(1'000'000'000);
    EXPECT_THAT(time_html(now + Duration(24 * 3'600'000 - 1), now), HasSubstr("(in 24 h)"));
    EXPECT_THAT(time_html(now - Duration(3 * 60'000), now), HasSubstr("(3 min ago)"));
    EXPECT_THAT(time_html(now + Duration(599'999), now), HasSubstr("(in 10 min)"));
}

}  // namespace
}  // namespace dormouse::http
