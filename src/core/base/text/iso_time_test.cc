#include "base/text/iso_time.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(IsoTime, ValidTimes_AreParsed) {
    Time const at = from_ms(1'795'290'000'000);  // 2026-11-21T19:40:00Z
    EXPECT_EQ(parse_iso_time("2026-11-21T19:40:00Z"), at);
    EXPECT_EQ(parse_iso_time("2026-11-21T19:40:00.007Z"), at + Duration(7));
    EXPECT_EQ(parse_iso_time("2026-11-21T19:40:00.1234567Z"), at + Duration(123));
    EXPECT_EQ(parse_iso_time("2026-11-21T20:40:00+01:00"), at);
    EXPECT_EQ(parse_iso_time("2026-11-21T14:10:00-05:30"), at);
}

TEST(IsoTime, InvalidTimes_AreRejected) {
    for (char const* const text :
         {"", "yesterday", "2026-11-21", "2026-11-21T19:40:00", "2026-13-21T19:40:00Z",
          "2026-02-30T19:40:00Z", "2026-11-21T24:40:00Z", "2026-11-21T19:40:00.Z",
          "2026-11-21T19:40:00+1:00", "2026-11-21T19:40:00Zx", "-026-11-21T19:40:00Z"})
        EXPECT_EQ(parse_iso_time(text), std::nullopt) << text;
}

TEST(IsoTime, Text_IsUtcWithMilliseconds) {
    EXPECT_EQ(iso_time(from_ms(1'795'290'000'007)), "2026-11-21T19:40:00.007Z");
    EXPECT_EQ(iso_time(from_ms(0)), "1970-01-01T00:00:00.000Z");
    EXPECT_EQ(utc_minute(from_ms(1'795'290'059'007)), "2026-11-21 19:40 UTC");
}

}  // namespace
}  // namespace dormouse
