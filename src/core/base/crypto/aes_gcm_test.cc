#include "base/crypto/aes_gcm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse {
namespace {

std::string of_hex(std::string_view digits) {
    std::string out;
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned char byte = 0;
        std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
        out += static_cast<char>(byte);
    }
    return out;
}

template <class Bytes> Bytes bytes_of_hex(std::string_view digits) {
    Bytes out{};
    std::ranges::copy(of_hex(digits), out.begin());
    return out;
}

// Test case 16 of the proposal of GCM (McGrew and Viega).
struct Aes256Gcm : ::testing::Test {
    Aes256Key const key =
        bytes_of_hex<Aes256Key>("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
    AesNonce const nonce = bytes_of_hex<AesNonce>("cafebabefacedbaddecaf888");
    std::string const text = of_hex(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
    std::string const bound = of_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
    std::string const sealed = of_hex(
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        "76fc6ece0f4e1768cddf8853bb2d551b");
};

TEST_F(Aes256Gcm, PublishedVector_IsSealedAndOpened) {
    EXPECT_EQ(aes256_gcm(key, nonce, text, bound), sealed);
    EXPECT_EQ(open_aes256_gcm(key, nonce, sealed, bound), text);
}

TEST_F(Aes256Gcm, ChangedInput_IsNotOpened) {
    std::string changed = sealed;
    changed.front() ^= 1;
    EXPECT_EQ(open_aes256_gcm(key, nonce, changed, bound), std::nullopt);
    EXPECT_EQ(open_aes256_gcm(key, nonce, sealed, "other"), std::nullopt);
    EXPECT_EQ(open_aes256_gcm(Aes256Key{}, nonce, sealed, bound), std::nullopt);
    EXPECT_EQ(open_aes256_gcm(key, nonce, "short", bound), std::nullopt);
}

TEST_F(Aes256Gcm, EmptyText_HasATag) {
    auto const empty = aes256_gcm(key, nonce, {}, {});
    EXPECT_EQ(empty.size(), 16U);
    EXPECT_EQ(open_aes256_gcm(key, nonce, empty, {}), "");
}

}  // namespace
}  // namespace dormouse
