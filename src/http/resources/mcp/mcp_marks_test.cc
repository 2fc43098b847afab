#include "http/resources/mcp/mcp_marks.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

TEST(McpMarks, Text_ReadAgain_IsTheSame) {
    McpMarks marks;
    EXPECT_TRUE(marks.end("a"));
    EXPECT_FALSE(marks.end("a")) << "it had ended";
    marks.withdraw("b");
    auto const again = McpMarks::read(marks.text());
    EXPECT_TRUE(again.has_ended("a"));
    EXPECT_FALSE(again.has_ended("b"));
    EXPECT_TRUE(again.is_withdrawn("b", 0));
    EXPECT_EQ(again.newest, 1U);
    EXPECT_EQ(again.text(), marks.text());
}

TEST(McpMarks, Withdrawal_BeforeTheRequest_DoesNotCount) {
    McpMarks marks;
    marks.withdraw("a");
    EXPECT_TRUE(marks.is_withdrawn("a", 0));
    EXPECT_FALSE(marks.is_withdrawn("a", marks.newest));
    marks.withdraw("b");
    EXPECT_TRUE(marks.is_withdrawn("b", 1));
    EXPECT_FALSE(marks.is_withdrawn("a", 1));
}

TEST(McpMarks, TooMany_OldestAreForgotten) {
    McpMarks marks;
    for (std::size_t i = 0; i <= McpMarks::ended_max; ++i) marks.end(std::to_string(i));
    for (std::size_t i = 0; i <= McpMarks::withdrawn_max; ++i) marks.withdraw(std::to_string(i));
    EXPECT_FALSE(marks.has_ended("0"));
    EXPECT_TRUE(marks.has_ended("1"));
    EXPECT_FALSE(marks.is_withdrawn("0", 0));
    EXPECT_TRUE(marks.is_withdrawn("1", 0));
    EXPECT_EQ(marks.ended.size(), McpMarks::ended_max);
    EXPECT_EQ(marks.withdrawn.size(), McpMarks::withdrawn_max);
}

TEST(McpMarks, MalformedText_IsEmpty) {
    for (auto const* const text : {"", "{", "3", "[]", R"({"newest":-1,"ended":3})"}) {
        auto const marks = McpMarks::read(text);
        EXPECT_EQ(marks.text(), McpMarks().text()) << text;
    }
}

TEST(McpMarks, Keys_DifferBySessionAndRequest) {
    auto const one = mcp_session_key("mcp_1");
    EXPECT_EQ(one.size(), 32U);
    EXPECT_EQ(mcp_bucket(one), one.substr(0, 2));
    EXPECT_NE(one, mcp_session_key("mcp_2"));
    EXPECT_NE(mcp_request_key(one, "7"), mcp_request_key(one, "\"7\""));
    EXPECT_NE(mcp_request_key(one, "7"), mcp_request_key(mcp_session_key("mcp_2"), "7"));
}

}  // namespace
}  // namespace dormouse::http
