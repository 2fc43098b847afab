#include "external/url_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::external {
namespace {

std::string filled(std::string_view url, std::string const& input) {
    auto const parsed = UrlTemplate::parse(url);
    if (!parsed) return "bad: " + parsed.error().detail;
    auto const text = parsed->fill(json::View(input));
    return text ? *text : "refused: " + text.error().detail;
}

TEST(UrlTemplate, Placeholder_IsAWholeSegmentOrQueryValue) {
    EXPECT_EQ(filled("https://h/a?x=1", "{}"), "https://h/a?x=1");
    EXPECT_EQ(filled("http://h", "{}"), "http://h");
    EXPECT_EQ(filled("https://h/r/{input.ref}/go?to={input.to}&n={input.n}",
                     R"({"ref":"main","to":"a b","n":12})"),
              "https://h/r/main/go?to=a%20b&n=12");
    EXPECT_EQ(filled("https://h/{input.a}/{input.b}", R"({"a":"1","b":true})"), "https://h/1/true");
    EXPECT_EQ(filled("https://h/{input.a}?b={input.b}", R"({"a":"1","b":"2"})"), "https://h/1?b=2");
}

TEST(UrlTemplate, Values_AreEncodedInPlace) {
    EXPECT_EQ(filled("https://h/r/{input.ref}", R"({"ref":"../admin?x#y&z=%2e"})"),
              "https://h/r/..%2Fadmin%3Fx%23y%26z%3D%252e");
    EXPECT_EQ(filled("https://h/r?q={input.q}", R"({"q":"a&admin=1"})"),
              "https://h/r?q=a%26admin%3D1");
    EXPECT_EQ(filled("https://h/{input.x}", R"({"x":"@evil.example"})"),
              "https://h/%40evil.example");
    EXPECT_EQ(filled("https://h/{input.x}", R"({"x":"\u00e9\r\nX: y"})"),
              "https://h/%C3%A9%0D%0AX%3A%20y");
}

TEST(UrlTemplate, InvalidValues_AreRefused) {
    for (std::string const value : {R"(".")", R"("..")", R"("")", "null", "[]", "{}"}) {
        EXPECT_THAT(filled("https://h/a/{input.x}", R"({"x":)" + value + "}"),
                    testing::StartsWith("refused: x "))
            << value;
    }
    EXPECT_THAT(filled("https://h/a/{input.x}", "{}"), testing::StartsWith("refused: x "));
    EXPECT_THAT(filled("https://h/{input.x}", R"({"x":")" + std::string(3'000, 'a') + "\"}"),
                testing::StartsWith("refused: x "));
}

TEST(UrlTemplate, InvalidTemplate_IsRefusedWithReason) {
    for (std::string_view const url : {"",
                                       "h/a",
                                       "ftp://h/a",
                                       "https://",
                                       "https:///a",
                                       "https://{input.host}/a",
                                       "https://{input.host}",
                                       "https://user:pw@h/a",
                                       "https://h/a#f",
                                       "https://h/a{input.x}",
                                       "https://h/{input.x}b",
                                       "https://h/{input.x}{input.y}",
                                       "https://h/a?{input.x}=1",
                                       "https://h/a?x=a{input.x}",
                                       "https://h/a?x={input.x}b",
                                       "https://h/{x}",
                                       "https://h/{input.}",
                                       "https://h/{input.x",
                                       "https://h/}",
                                       "https://h/a b",
                                       "https://h/\xC3\xA9",
                                       "https://h/{input.a/b}",
                                       "https://h/{input.a b}",
                                       "https://h:{input.port}/",
                                       "https://h\\@evil/"}) {
        EXPECT_THAT(filled(url, R"({"x":"1"})"), testing::StartsWith("bad: url \"")) << url;
    }
}

}  // namespace
}  // namespace dormouse::external
