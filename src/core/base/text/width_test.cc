#include "base/text/width.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(Width, Text_CountsColumnsNotBytes) {
    EXPECT_EQ(width("abc"), 3U);
    EXPECT_EQ(width("äöü…"), 4U);
    EXPECT_EQ(width("漢字"), 4U);
    EXPECT_EQ(width("ｆｕｌｌ"), 8U);
    EXPECT_EQ(width("한글"), 4U);
    EXPECT_EQ(width("🐭"), 2U);
}

TEST(Width, JoiningCharacters_TakeNoColumn) {
    EXPECT_EQ(width("e\u0301"), 1U);
    EXPECT_EQ(width("\u05D0\u05B8"), 1U);
    EXPECT_EQ(width("\u1112\u1161\u11AB"), 2U);  // Hangul in three parts
    EXPECT_EQ(width("\u2764\uFE0F"), 1U);
}

TEST(Width, Text_IsCutBetweenCharacters) {
    EXPECT_EQ(shortened("äöüß", 4), "äöüß");
    EXPECT_EQ(shortened("äöüßx", 4), "äöü…");
    EXPECT_EQ(shortened("漢字漢字", 8), "漢字漢字");
    EXPECT_EQ(shortened("漢字漢字x", 8), "漢字漢…");
    EXPECT_EQ(shortened("漢字漢字", 4), "漢…");
    EXPECT_EQ(shortened("ae\u0301bc", 3), "ae\u0301…");
    EXPECT_EQ(shortened("ab", 1), "…");
    EXPECT_EQ(shortened("ab", 0), "");
}

TEST(Width, CutText_IsNeverTooWide) {
    std::string const text = "a漢e\u0301🐭b\u05D0\u05B8";
    for (std::size_t columns = 0; columns < 10; ++columns)
        EXPECT_LE(width(shortened(text, columns)), columns) << columns;
}

}  // namespace
}  // namespace dormouse
