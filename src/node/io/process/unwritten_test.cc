#include "io/process/unwritten.h"

#include <gtest/gtest.h>

namespace dormouse::io {
namespace {

TEST(Unwritten, Rest_IsWhatWasNotTaken) {
    Unwritten bytes;
    EXPECT_TRUE(bytes.empty());
    bytes.add("abc");
    bytes.take(2);
    EXPECT_EQ(bytes.rest(), "c");
    bytes.add("de");
    EXPECT_EQ(bytes.rest(), "cde");
    bytes.take(3);
    EXPECT_TRUE(bytes.empty());
    EXPECT_EQ(bytes.held(), 0U);
}

TEST(Unwritten, ReaderThatIsAlwaysBehind_HoldsLittle) {
    Unwritten bytes;
    std::string const line(1'024, 'x');
    bytes.add("y");
    for (int i = 0; i < 10'000; ++i) {
        bytes.add(line);
        bytes.take(line.size());
        ASSERT_LE(bytes.held(), 3 * line.size());
    }
    EXPECT_EQ(bytes.rest(), "x");
}

}  // namespace
}  // namespace dormouse::io
