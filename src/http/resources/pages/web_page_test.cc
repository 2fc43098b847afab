#include "http/resources/pages/web_page.h"

#include <gtest/gtest.h>

#include <array>

namespace dormouse::http {
namespace {

constexpr std::array<WebFile, 4> files{{
    {"/assets/index-1.js", "text/javascript; charset=utf-8", "script", "small", "d1"},
    {"/icon.svg", "image/svg+xml", "<svg/>", "", "d2"},
    {"/index.html", "text/html; charset=utf-8",
     "<head><title>Dormouse</title></head><div id=\"app\"></div><noscript>No script</noscript>", "",
     "d3"},
    {"/service-worker.js", "text/javascript; charset=utf-8", "worker", "", "d4"},
}};

class WebPageTest : public ::testing::Test {
protected:
    using Headers = std::vector<std::pair<std::string, std::string>>;

    static HttpRequest request(std::string path, Headers headers = {}) {
        HttpRequest out;
        out.method = "GET";
        out.path = std::move(path);
        out.headers = std::move(headers);
        return out;
    }
    [[nodiscard]] HttpReply get(std::string path, Headers headers = {}, bool signed_in = true) {
        auto reply = page.get(request(std::move(path), std::move(headers)), signed_in);
        return reply.value_or(HttpReply{404, "", {}, ""});
    }
    static std::string header(HttpReply const& reply, std::string_view name) {
        for (auto const& [key, value] : reply.headers)
            if (key == name) return value;
        return "";
    }

    WebPage const page{files};
};

TEST_F(WebPageTest, NamedFile_IsImmutable) {
    HttpReply const reply = get("/assets/index-1.js", {}, false);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "script");
    EXPECT_EQ(reply.content_type, "text/javascript; charset=utf-8");
    EXPECT_EQ(header(reply, "Cache-Control"), "public, max-age=31536000, immutable");
    EXPECT_EQ(header(reply, "ETag"), "\"d1\"");
    EXPECT_EQ(header(get("/service-worker.js"), "Cache-Control"), "no-cache");
}

TEST_F(WebPageTest, UnknownFile_IsNotFound) {
    for (auto const* path : {"/assets/index-2.js", "/assets/", "/assets/x/index-1.js"}) {
        EXPECT_TRUE(page.has(path)) << path;
        EXPECT_EQ(get(path).status, 404) << path;
    }
    for (auto const* path : {"/assets", "/nothing", "/index", "/api", ""})
        EXPECT_FALSE(page.has(path)) << path;
}

TEST_F(WebPageTest, Traversal_FindsNothing) {
    for (auto const* path : {"/assets/../index.html", "/assets/../../etc/passwd",
                             "/assets/..\\index.html", "/assets//index-1.js"})
        EXPECT_EQ(get(path).status, 404) << path;
    EXPECT_FALSE(page.has("/../etc/passwd"));
    EXPECT_FALSE(page.has("//index.html"));
}

TEST_F(WebPageTest, Brotli_OnlyWhereAccepted) {
    for (auto const* accepted : {"br", "gzip, deflate, br, zstd", "gzip;q=1, BR;q=0.1", "*"}) {
        HttpReply const reply = get("/assets/index-1.js", {{"accept-encoding", accepted}});
        EXPECT_EQ(header(reply, "Content-Encoding"), "br") << accepted;
        EXPECT_EQ(header(reply, "ETag"), "\"d1-br\"") << accepted;
        EXPECT_EQ(reply.body, "small") << accepted;
    }
    for (auto const* accepted : {"", "gzip", "br;q=0", "br; q=0.000, gzip", "*;q=0", "*, br;q=0"}) {
        HttpReply const reply = get("/assets/index-1.js", {{"accept-encoding", accepted}});
        EXPECT_EQ(header(reply, "Content-Encoding"), "") << accepted;
        EXPECT_EQ(reply.body, "script") << accepted;
        EXPECT_EQ(header(reply, "Vary"), "Accept-Encoding") << accepted;
    }
    EXPECT_EQ(get("/icon.svg", {{"accept-encoding", "br"}}).body, "<svg/>");
}

TEST_F(WebPageTest, IfNoneMatch_SameTag_IsNotModified) {
    HttpReply const same = get("/icon.svg", {{"if-none-match", "\"x\", W/\"d2\""}});
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(header(same, "ETag"), "\"d2\"");
    EXPECT_EQ(header(same, "Cache-Control"), "no-cache");
    EXPECT_EQ(get("/icon.svg", {{"if-none-match", "\"d1\""}}).status, 200);
    // The compressed file is another representation.
    EXPECT_EQ(
        get("/assets/index-1.js", {{"if-none-match", "\"d1\""}, {"accept-encoding", "br"}}).status,
        200);
}

TEST_F(WebPageTest, View_SignedIn_IsThePage) {
    for (auto const* path :
         {"/sessions", "/sessions/ses_1", "/sessions/ses_1/timeline", "/sessions/ses_1/mail",
          "/decided", "/tasks", "/mail", "/operate", "/operate/access", "/operate/deliveries",
          "/operate/rules", "/operate/audit", "/operate/config", "/operate/nodes", "/you"}) {
        HttpReply const reply = get(path);
        EXPECT_EQ(reply.status, 200) << path;
        EXPECT_EQ(reply.body, files[2].bytes) << path;
        EXPECT_EQ(header(reply, "Cache-Control"), "no-cache") << path;
    }
    for (auto const* path : {"/sessions/", "/sessions/ses_1/", "/sessions/ses_1/nothing",
                             "/sessions/ses_1/mail/x", "/operate/nothing"})
        EXPECT_FALSE(page.has(path)) << path;
}

TEST_F(WebPageTest, View_NotSignedIn_RedirectsToTheSignIn) {
    HttpReply const reply = get("/sessions/ses_1/timeline", {}, false);
    EXPECT_EQ(reply.status, 303);
    EXPECT_EQ(header(reply, "Location"), "/sign-in?next=/sessions/ses_1/timeline");
    HttpRequest sessions_request = request("/sessions");
    sessions_request.query = {{"q", "a&b /<\"\r\n"}, {"state", "idle"}};
    EXPECT_EQ(sign_in_path(sessions_request),
              "/sign-in?next=/sessions%3Fq%3Da%2526b%2520%252F%253C%2522%250D%250A%26state%3Didle");
    EXPECT_EQ(sign_in_path(request("/")), "/sign-in");
    // The name of another server is only text in a path here.
    EXPECT_EQ(sign_in_path(request("//evil.test/\r\nX: y")),
              "/sign-in?next=//evil.test/%250D%250AX%253A%2520y");
}

TEST_F(WebPageTest, Policy_AllowsNoInlineScriptOrStyle) {
    std::string const policy = header(get("/sessions"), "Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'; script-src 'self'; style-src 'self';"),
              std::string::npos);
    EXPECT_NE(policy.find("require-trusted-types-for 'script'"), std::string::npos);
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(policy.find("sha256"), std::string::npos);
}

TEST_F(WebPageTest, Around_ContainsWhatBrowsersWithoutScriptShow) {
    auto const home = page.around("1 < 2?", "<h1>Waiting for you: 1</h1>");
    ASSERT_TRUE(home);
    EXPECT_EQ(home->status, 200);
    EXPECT_EQ(header(*home, "Cache-Control"), "no-store");
    EXPECT_NE(home->body.find("<title>1 &lt; 2?</title>"), std::string::npos) << home->body;
    auto const list = home->body.find("<h1>Waiting for you: 1</h1>");
    EXPECT_GT(list, home->body.find("<noscript>"));
    EXPECT_LT(list, home->body.find("</noscript>"));
    EXPECT_EQ(home->body.find("No script"), std::string::npos);
    EXPECT_EQ(header(*home, "Content-Security-Policy"),
              header(get("/sessions"), "Content-Security-Policy"));
    auto const style = home->body.find(plain_style_link());
    EXPECT_GT(style, home->body.find("<noscript>"));
    EXPECT_LT(style, list);
}

TEST_F(WebPageTest, WithoutFiles_ThereIsNoPage) {
    WebPage const none{{}};
    for (auto const* path : {"/sessions", "/assets/index-1.js", "/index.html"})
        EXPECT_FALSE(none.has(path)) << path;
    EXPECT_FALSE(none.around("", ""));
    // The pages that the server draws need these.
    ASSERT_EQ(plain_files().size(), 2);
    for (PlainFile const& file : plain_files()) {
        EXPECT_TRUE(none.has(file.path)) << file.path;
        auto const reply = none.get(request(file.path), false);
        ASSERT_TRUE(reply) << file.path;
        EXPECT_EQ(reply->body, file.bytes);
        EXPECT_EQ(reply->content_type, file.type);
        EXPECT_EQ(header(*reply, "Cache-Control"), "public, max-age=31536000, immutable");
    }
}

}  // namespace
}  // namespace dormouse::http
