#include "base/crypto/siphash.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace dormouse {
namespace {

Bits128 counting_key() {
    Bits128 out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i);
    return out;
}

// The authors' vectors for inputs of 0, 8 and 16 bytes.
TEST(SipHash, ReferenceVectors_AreEqual) {
    constexpr std::uint64_t first = 0x0706050403020100;
    constexpr std::uint64_t second = 0x0f0e0d0c0b0a0908;
    EXPECT_EQ(SipHash(counting_key()).finish(), 0x726fdb47dd0e0e31U);
    EXPECT_EQ(SipHash(counting_key()).add(first).finish(), 0x93f5f5799a932462U);
    EXPECT_EQ(SipHash(counting_key()).add(first).add(second).finish(), 0x3f2acc7f57c29bdbU);
}

TEST(SipHash, OtherKey_GivesAnotherHash) {
    EXPECT_NE(SipHash({}).add(1).finish(), SipHash(counting_key()).add(1).finish());
}

}  // namespace
}  // namespace dormouse
