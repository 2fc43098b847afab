#include "rpc/lines.h"

#include <gtest/gtest.h>

namespace dormouse::rpc {
namespace {

TEST(Lines, Lines_AreWholeForAnyChunks) {
    LineReader reader(100);
    EXPECT_TRUE(reader.feed(R"({"a")").empty());
    auto const lines = reader.feed(":1}\r\n\n  \nsecond\nthi");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].text, R"({"a":1})");
    EXPECT_EQ(lines[1].text, "second");
    auto const third = reader.feed("rd\n");
    ASSERT_EQ(third.size(), 1U);
    EXPECT_EQ(third[0].text, "third");
}

TEST(Lines, LineTooLong_IsReportedOnceAndReadingContinues) {
    LineReader reader(4);
    EXPECT_TRUE(reader.feed("1234").empty());
    EXPECT_FALSE(reader.overflows());
    EXPECT_TRUE(reader.feed("5").empty());
    EXPECT_TRUE(reader.overflows());
    EXPECT_TRUE(reader.feed(std::string(1000, 'x')).empty());
    auto const lines = reader.feed("\n1234\n");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(lines[0].too_long);
    EXPECT_EQ(lines[0].text, "");
    EXPECT_FALSE(lines[1].too_long);
    EXPECT_EQ(lines[1].text, "1234");
}

}  // namespace
}  // namespace dormouse::rpc
