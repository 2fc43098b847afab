#include "base/text/cut.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(Trimmed, SpaceAround_IsRemoved) {
    EXPECT_EQ(trimmed(" \t a b \r\n"), "a b");
    EXPECT_EQ(trimmed("a"), "a");
}

TEST(Trimmed, OnlySpace_IsEmpty) {
    EXPECT_EQ(trimmed(" \t\r\n"), "");
    EXPECT_EQ(trimmed(""), "");
}

TEST(CutWithMark, TextThatFits_StaysWhole) {
    EXPECT_EQ(cut_with_mark("abc", 3), "abc");
    EXPECT_EQ(cut_with_mark("", 0), "");
}

TEST(CutWithMark, LongerText_EndsWithTheMark) {
    EXPECT_EQ(cut_with_mark("abcd", 3), "abc…");
    EXPECT_EQ(cut_with_mark("abcd", 2, " [cut]"), "ab [cut]");
}

TEST(CutWithMark, CharacterAcrossTheLimit_IsNotSplit) { EXPECT_EQ(cut_with_mark("aäb", 2), "a…"); }

}  // namespace
}  // namespace dormouse
