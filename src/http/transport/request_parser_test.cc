#include "http/transport/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using Stage = RequestParser::Stage;

// Feeds `bytes` as a connection does, `step` at a time. Returns the error, if any.
std::optional<Code> feed_all(RequestParser& parser, std::string_view bytes, std::size_t step,
                             std::size_t body_max = 1'000) {
    std::string buffered;
    while (!bytes.empty() && parser.stage() != Stage::complete) {
        buffered += bytes.substr(0, step);
        bytes.remove_prefix(std::min(step, bytes.size()));
        for (bool progress = true; progress && parser.stage() != Stage::complete;) {
            bool const had_head = parser.stage() != Stage::head;
            auto const taken = parser.feed(buffered);
            if (!taken) return taken.error().code;
            buffered.erase(0, *taken);
            progress = *taken > 0;
            if (!had_head && parser.stage() == Stage::body) {
                if (auto fits = parser.limit_body(body_max); !fits) return fits.error().code;
            }
        }
    }
    return std::nullopt;
}

std::optional<Code> error_of(std::string_view bytes) {
    RequestParser whole(32 * 1024);
    auto const at_once = feed_all(whole, bytes, bytes.size());
    RequestParser dripped(32 * 1024);
    EXPECT_EQ(feed_all(dripped, bytes, 1), at_once) << bytes;
    EXPECT_EQ(dripped.stage(), whole.stage()) << bytes;
    return at_once;
}

std::string with(std::string_view headers, std::string_view body = {}) {
    return "POST /a HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n" + std::string(body);
}

std::string chunked(std::string_view body) { return with("Transfer-Encoding: chunked\r\n", body); }

TEST(RequestParser, PiecesOfAnySize_AreOneRequest) {
    auto const bytes = chunked("5\r\nhello\r\n00a\r\n, dormouse\r\n0\r\nTrailer: x\r\n\r\n");
    for (std::size_t step = 1; step <= bytes.size(); ++step) {
        RequestParser parser(32 * 1024);
        ASSERT_EQ(feed_all(parser, bytes, step), std::nullopt) << step;
        ASSERT_EQ(parser.stage(), Stage::complete) << step;
        EXPECT_EQ(parser.request().body, "hello, dormouse");
        EXPECT_EQ(parser.request().method, "POST");
        EXPECT_EQ(parser.request().header("trailer"), "") << "a trailer does not become a header";
    }
}

TEST(RequestParser, LastChunk_ByteByByte_ReadWhenComplete) {
    RequestParser parser(32 * 1024);
    std::string_view const rest = "0\r\n\r\n";
    std::string const head = chunked("");
    ASSERT_EQ(feed_all(parser, head, head.size()), std::nullopt);
    for (std::size_t n = 1; n < rest.size(); ++n) {
        ASSERT_EQ(parser.feed(rest.substr(0, n)), 0U) << n;
        ASSERT_EQ(parser.stage(), Stage::body) << n;
    }
    std::string_view left = rest;
    while (parser.stage() != Stage::complete) {
        auto const taken = parser.feed(left);
        ASSERT_TRUE(taken && *taken > 0);
        left.remove_prefix(*taken);
    }
    EXPECT_EQ(parser.request().body, "");
}

TEST(RequestParser, NextRequest_IsLeft) {
    auto const first = with("Content-Length: 2\r\n", "ab");
    RequestParser parser(32 * 1024);
    auto const both = first + first;
    auto const head = parser.feed(both);
    ASSERT_TRUE(head);
    EXPECT_EQ(*head, first.size() - 2);
    auto const body = parser.feed(std::string_view(both).substr(*head));
    ASSERT_TRUE(body);
    EXPECT_EQ(*body, 2U);
    EXPECT_EQ(parser.stage(), Stage::complete);
}

TEST(RequestParser, AmbiguousRequest_IsRefused) {
    std::string const cases[] = {
        with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
        with("Content-Length: 5\r\nContent-Length: 5\r\n"),
        with("Content-Length: 5\r\nContent-Length: 6\r\n"),
        with("Content-Length: 5, 5\r\n"),
        with("Content-Length: +5\r\n"),
        with("Content-Length: -5\r\n"),
        with("Content-Length: 0x5\r\n"),
        with("Content-Length: 5 5\r\n"),
        with("Content-Length: \r\n"),
        with("Content-Length: 99999999999999999999999\r\n"),
        with("Content-Length : 5\r\n"),
        with(" Content-Length: 5\r\n"),
        with("X: y\r\n Content-Length: 5\r\n"),
        with("X: y\r\n\tfolded\r\n"),
        with("Transfer-Encoding: gzip\r\n"),
        with("Transfer-Encoding: gzip, chunked\r\n"),
        with("Transfer-Encoding: chunked, identity\r\n"),
        with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        with("Transfer-Encoding: xchunked\r\n"),
        with("Transfer-Encoding:\x0b"
             "chunked\r\n"),
        with("Transfer-Encoding: \r\n"),
        "POST /a HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
        with("Host: other\r\n"),
        with("Authorization: a\r\nAuthorization: b\r\n"),
        with("X\rY: z\r\n"),
        with("X: a\nY: b\r\n"),
        with("X: a\rb\r\n"),
        with(std::string("X: a\0b\r\n", 8)),
        with("X y: z\r\n"),
        with(": z\r\n"),
        with("no colon\r\n"),
        with("Expect: wonders\r\n"),
    };
    for (auto const& bytes : cases) EXPECT_EQ(error_of(bytes), Code::bad_value) << bytes;
}

TEST(RequestParser, MalformedChunk_IsRefused) {
    for (std::string_view const body :
         {"-2\r\nab\r\n", "+5\r\nhello\r\n", "0x5\r\nhello\r\n0\r\n\r\n",
          "00000000000000005\r\nhello\r\n", "fffffffffffffffff\r\n", " 5\r\nhello\r\n",
          "5 ;\r\nhello\r\n", "5 \r\nhello\r\n", "\r\nhello\r\n", "5;a=b\r\nhello\r\n",
          "5;\nx\r\nhello\r\n", "5\nhello\r\n", "5\rhello\r\n", "g\r\n", "5\r\nhelloXX0\r\n\r\n",
          "5\r\nhello\r\n\r\n", "0;x\r\n\r\n"}) {
        EXPECT_EQ(error_of(chunked(body)), Code::bad_value) << body;
    }
}

TEST(RequestParser, BadRequestLineOrTarget_IsRefused) {
    for (std::string const line : {"GET  /a HTTP/1.1",
                                   "GET /a  HTTP/1.1",
                                   "GET /a b HTTP/1.1",
                                   "GET /a HTTP/2.0",
                                   "GET /a HTTP/1.2",
                                   "GET /a http/1.1",
                                   "GET /a",
                                   "GET /%zz HTTP/1.1",
                                   "GET /%4 HTTP/1.1",
                                   "GET /%00 HTTP/1.1",
                                   "GET /%0a HTTP/1.1",
                                   "GET /%ff HTTP/1.1",
                                   "GET /a?x=% HTTP/1.1",
                                   "GET /../etc HTTP/1.1",
                                   "GET /a/%2e%2e/b HTTP/1.1",
                                   "GET /./a HTTP/1.1",
                                   "GET /a#b HTTP/1.1",
                                   "GET /a\\b HTTP/1.1",
                                   "GET /\xc3\xa4 HTTP/1.1",
                                   "GET http://other/a HTTP/1.1",
                                   "GET ftp://h/a HTTP/1.1",
                                   "GET http://user@h/a HTTP/1.1",
                                   "CONNECT h:80 HTTP/1.1",
                                   "G(T /a HTTP/1.1",
                                   "GET a HTTP/1.1"}) {
        EXPECT_EQ(error_of(line + "\r\nHost: h\r\n\r\n"), Code::bad_value) << line;
    }
}

TEST(RequestParser, Host_MustBeOneAndWellFormed) {
    EXPECT_EQ(error_of("GET /a HTTP/1.1\r\n\r\n"), Code::bad_value);
    EXPECT_EQ(error_of("GET /a HTTP/1.0\r\n\r\n"), std::nullopt);
    for (std::string const host : {"", "a b", "a/b", "user@h", "h,i", "h?", "a%2eb"}) {
        EXPECT_EQ(error_of("GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), Code::bad_value)
            << host;
    }
    for (std::string const host : {"localhost:3676", "[::1]:3676", "a-b.example_c"}) {
        EXPECT_EQ(error_of("GET /a HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), std::nullopt) << host;
    }
}

TEST(RequestParser, AbsoluteTarget_OwnHost_IsAccepted) {
    RequestParser parser(32 * 1024);
    ASSERT_EQ(feed_all(parser, "GET http://H:1/a?b=c HTTP/1.1\r\nHost: h:1\r\n\r\n", 500),
              std::nullopt);
    EXPECT_EQ(parser.request().path, "/a");
    EXPECT_EQ(parser.request().query_value("b"), "c");
    RequestParser bare(32 * 1024);
    ASSERT_EQ(feed_all(bare, "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", 500), std::nullopt);
    EXPECT_EQ(bare.request().path, "/");
    EXPECT_TRUE(bare.request().segments.empty());
    RequestParser server_wide(32 * 1024);
    ASSERT_EQ(feed_all(server_wide, "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", 500), std::nullopt);
    EXPECT_EQ(server_wide.request().path, "*");
}

TEST(RequestParser, EscapedSlash_StaysInsideItsSegment) {
    RequestParser parser(32 * 1024);
    ASSERT_EQ(feed_all(parser, "GET /a%2Fb//c/ HTTP/1.1\r\nHost: h\r\n\r\n", 500), std::nullopt);
    EXPECT_THAT(parser.request().segments, testing::ElementsAre("a/b", "", "c", ""));
}

TEST(RequestParser, HeaderValues_AreNotDecoded) {
    RequestParser parser(32 * 1024);
    ASSERT_EQ(feed_all(parser, with("X-A: a%0d%0aSet-Cookie:b\r\n"), 500), std::nullopt);
    EXPECT_EQ(parser.request().header("x-a"), "a%0d%0aSet-Cookie:b");
}

TEST(RequestParser, EmptyLineBefore_IsSkipped) {
    RequestParser parser(32 * 1024);
    EXPECT_EQ(feed_all(parser, "\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n", 500), std::nullopt);
    EXPECT_EQ(parser.stage(), Stage::complete);
    EXPECT_EQ(error_of("\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n"), std::nullopt);
}

TEST(RequestParser, HeadsAndTrailers_AreLimited) {
    RequestParser head(1'000);
    EXPECT_EQ(feed_all(head, with("X: " + std::string(2'000, 'y')), 7), Code::headers_too_large);
    RequestParser trailers(1'000);
    EXPECT_EQ(feed_all(trailers, chunked("0\r\nX: " + std::string(2'000, 'y')), 7),
              Code::headers_too_large);
    RequestParser extension(1'000);
    EXPECT_EQ(feed_all(extension, chunked("5;" + std::string(2'000, 'y')), 7),
              Code::headers_too_large);
}

TEST(RequestParser, BodyTooLarge_IsRefusedAsSoonAsKnown) {
    EXPECT_EQ(error_of(with("Content-Length: 1001\r\n")), Code::too_large);
    EXPECT_EQ(error_of(with("Content-Length: 1000\r\n")), std::nullopt);
    EXPECT_EQ(error_of(chunked("3e9\r\n")), Code::too_large);
    EXPECT_EQ(error_of(chunked("ffffffffffffffff\r\n")), Code::too_large);
}

TEST(RequestParser, KeepAlive_FollowsVersionAndHeaders) {
    auto const stays = [](std::string const& bytes) {
        RequestParser parser(32 * 1024);
        EXPECT_EQ(feed_all(parser, bytes, 500), std::nullopt);
        return parser.keep_alive();
    };
    EXPECT_TRUE(stays("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    EXPECT_FALSE(stays("GET / HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\n"));
    EXPECT_FALSE(stays("GET / HTTP/1.0\r\nHost: h\r\n\r\n"));
    EXPECT_TRUE(stays("GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n"));
}

}  // namespace
}  // namespace dormouse::http
