#include "base/crypto/sha256.h"
#include "base/crypto/sha256_stream.h"

#include "base/text/text.h"

#include <gtest/gtest.h>

#include <set>

namespace dormouse {
namespace {

TEST(Sha256, Fips180_KnownAnswers) {
    EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, Digest_NamesItsAlgorithm) {
    EXPECT_EQ(digest_text(sha256("abc")),
              "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Draw, Draw_IsTheDigestOfRandomAndNumber) {
    Random random{};
    random[0] = 'x';
    std::string bytes(random.begin(), random.end());
    Bits128 const expected = [&] {
        Sha256 const digest = sha256(bytes + std::string("\x01\x02\x03\x04", 4));
        Bits128 cut;
        std::copy_n(digest.begin(), 16, cut.begin());
        return cut;
    }();
    EXPECT_EQ(draw(random, 0x01020304), expected);
}

TEST(Draw, EachNumber_GivesAnotherId) {
    std::set<Bits128> drawn;
    for (std::uint32_t n = 0; n < 1000; ++n) {
        drawn.insert(draw(Random{}, n));
    }
    EXPECT_EQ(drawn.size(), 1000u);
}

TEST(HmacSha256, Rfc4231_KnownAnswers) {
    EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hex(hmac_sha256(std::string(131, '\xaa'),
                              "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(SameDigest, SameDigest_ComparesEveryBit) {
    Sha256 const digest = sha256("a");
    EXPECT_TRUE(same_digest(digest, sha256("a")));
    for (std::size_t bit = 0; bit < 256; ++bit) {
        Sha256 other = digest;
        other[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
        EXPECT_FALSE(same_digest(digest, other)) << bit;
    }
}

TEST(Sha256Stream, BytesInPieces_DigestOfTheWhole) {
    std::string const bytes(1'000, 'x');
    Sha256Stream stream;
    for (std::size_t at = 0; at < bytes.size(); at += 7)
        stream.add(std::string_view(bytes).substr(at, 7));
    EXPECT_EQ(stream.finish(), sha256(bytes));
    EXPECT_EQ(Sha256Stream().finish(), sha256(""));
}

}  // namespace
}  // namespace dormouse
