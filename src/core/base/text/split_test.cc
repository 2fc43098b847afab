#include "base/text/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitList, Parts_AreTrimmedAndEmptyOnesLeftOut) {
    EXPECT_THAT(split_list("a, b ,,\tc", ','), ElementsAre("a", "b", "c"));
    EXPECT_THAT(split_list("read  write", ' '), ElementsAre("read", "write"));
    EXPECT_THAT(split_list("a", ','), ElementsAre("a"));
    EXPECT_THAT(split_list(" , ", ','), IsEmpty());
    EXPECT_THAT(split_list("", ','), IsEmpty());
}

}  // namespace
}  // namespace dormouse
