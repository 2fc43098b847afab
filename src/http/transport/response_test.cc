#include "http/transport/response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string bytes_of(HttpReply const& reply, Framing const& framing = {}) {
    std::string out;
    append_reply(out, reply, framing);
    return out;
}

TEST(Response, HeadAndBody_AreOnePiece) {
    EXPECT_EQ(
        bytes_of({201, "text/plain", {{"Location", "/x"}}, "made"}, {false, false, false, "today"}),
        "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nDate: today\r\n"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nLocation: /x\r\n"
        "Content-Length: 4\r\n\r\nmade");
}

TEST(Response, HeaderWithLineBreak_IsOmitted) {
    auto const text = bytes_of(
        {200, "text/plain", {{"A", "x\r\nSet-Cookie: b"}, {"B c", "d"}, {"E", "f\n"}}, ""});
    EXPECT_THAT(text, Not(HasSubstr("Set-Cookie")));
    EXPECT_THAT(text, Not(HasSubstr("B c")));
    EXPECT_THAT(text, Not(HasSubstr("\r\nE:")));
}

TEST(Response, HandlersOwnHeaders_AreNotContradicted) {
    auto const text = bytes_of({200, "text/css", {{"cache-control", "immutable"}}, "x"});
    EXPECT_THAT(text, HasSubstr("cache-control: immutable\r\n"));
    EXPECT_THAT(text, Not(HasSubstr("no-store")));
}

TEST(Response, NoContentStatus_HasNeitherBodyNorLength) {
    auto const none = bytes_of({204, "", {}, ""});
    EXPECT_THAT(none, Not(HasSubstr("\r\nContent-")));
    EXPECT_THAT(none, EndsWith("\r\n\r\n"));
    EXPECT_THAT(bytes_of({304, "text/plain", {{"ETag", "\"1\""}}, "x"}), EndsWith("\r\n\r\n"));
}

TEST(Response, Head_HasTheLengthWithoutTheBody) {
    auto const text = bytes_of({200, "text/plain", {}, "abc"}, {true, false, false, {}});
    EXPECT_THAT(text, HasSubstr("Content-Length: 3\r\n"));
    EXPECT_THAT(text, EndsWith("\r\n\r\n"));
}

TEST(Response, Date_IsInHttpFormat) {
    EXPECT_EQ(http_date(from_ms(1795299651123)), "Sat, 21 Nov 2026 22:20:51 GMT");
    EXPECT_EQ(http_date(from_ms(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
}

}  // namespace
}  // namespace dormouse::http
