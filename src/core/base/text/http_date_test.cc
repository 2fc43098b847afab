#include "base/text/http_date.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

TEST(HttpDate, FixedForm_IsParsed) {
    EXPECT_EQ(parse_http_date("Sat, 21 Nov 2026 22:20:51 GMT"), from_ms(1795299651000));
    EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), from_ms(0));
}

TEST(HttpDate, OtherText_IsNoTime) {
    for (char const* const bad :
         {"", "today", "Sat, 21 Nov 2026 22:20:51 UTC", "Sat, 31 Feb 2026 22:20:51 GMT",
          "Sat, 21 Foo 2026 22:20:51 GMT", "Sat, 2x Nov 2026 22:20:51 GMT"})
        EXPECT_EQ(parse_http_date(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace dormouse
