#include "backup/gzip.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace dormouse::backup {
namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 24;

RC_GTEST_PROP(Gzip, AnyText_ComesBack, (std::string const& text)) {
    RC_ASSERT(gunzip(gzip(text), most).value() == text);
}

TEST(Gzip, LongTexts_AreSmallAndComeBack) {
    std::string text;
    for (int i = 0; text.size() < 3'000'000; ++i) text += "{\"line\":" + std::to_string(i) + "}\n";
    auto const made = gzip(text);
    EXPECT_LT(made.size(), text.size() / 3);
    EXPECT_EQ(gunzip(made, most).value(), text);
    EXPECT_EQ(gunzip(made, 2'000'000).error().code, Code::too_large);
}

TEST(Gzip, DamagedBytes_AreRefused) {
    auto const made = gzip("a text that is long enough to be damaged, as it is said here");
    for (std::size_t size = 0; size < made.size(); ++size)
        EXPECT_FALSE(gunzip(std::string_view(made).substr(0, size), most)) << size;
    for (std::size_t at = 0; at < made.size(); ++at) {
        std::string changed = made;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        EXPECT_FALSE(gunzip(changed, most)) << at;
    }
}

}  // namespace
}  // namespace dormouse::backup
