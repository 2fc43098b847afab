#include "base/crypto/public_key.h"
#include "base/testing/signing_key.h"

#include <gtest/gtest.h>

namespace dormouse {
namespace {

using testing::SigningKey;

TEST(PublicKey, OwnSignature_Verifies) {
    for (SigningKey const& key : {SigningKey::rsa(), SigningKey::p256()}) {
        std::string const signature = key.sign("message");
        EXPECT_TRUE(key.public_key().verify("message", signature));
        EXPECT_FALSE(key.public_key().verify("messagf", signature));
        EXPECT_FALSE(key.public_key().verify("", signature));
    }
}

TEST(PublicKey, ChangedSignature_IsRefused) {
    for (SigningKey const& key : {SigningKey::rsa(), SigningKey::p256()}) {
        std::string const good = key.sign("message");
        for (std::size_t const at : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ 1);
            EXPECT_FALSE(key.public_key().verify("message", bad)) << at;
        }
        EXPECT_FALSE(key.public_key().verify("message", ""));
        EXPECT_FALSE(key.public_key().verify("message", good.substr(1)));
        EXPECT_FALSE(key.public_key().verify("message", good + '\0'));
        EXPECT_FALSE(key.public_key().verify("message", std::string(good.size(), '\0')));
    }
}

TEST(PublicKey, SignatureOfAnotherKey_IsRefused) {
    EXPECT_FALSE(SigningKey::p256().public_key().verify("m", SigningKey::p256().sign("m")));
    EXPECT_FALSE(SigningKey::rsa().public_key().verify("m", SigningKey::p256().sign("m")));
}

TEST(PublicKey, WeakOrHugeRsaKey_IsRefused) {
    SigningKey const small = SigningKey::rsa(1'024);
    EXPECT_FALSE(PublicKey::rsa(small.number("n"), small.number("e")));
    SigningKey const key = SigningKey::rsa();
    EXPECT_FALSE(PublicKey::rsa(key.number("n"), "\1"));
    EXPECT_FALSE(PublicKey::rsa(key.number("n"), "\2"));
    EXPECT_FALSE(PublicKey::rsa(key.number("n"), ""));
    EXPECT_FALSE(PublicKey::rsa(key.number("n"), std::string(5, '\1')));
    EXPECT_FALSE(PublicKey::rsa("", key.number("e")));
    EXPECT_FALSE(PublicKey::rsa(std::string(1'025, '\xff'), key.number("e")));
}

TEST(PublicKey, PointBesidesTheCurve_IsRefused) {
    SigningKey const key = SigningKey::p256();
    std::string const x = key.number("qx");
    std::string y = key.number("qy");
    EXPECT_TRUE(PublicKey::p256(x, y));
    EXPECT_FALSE(PublicKey::p256(x.substr(1), y));
    EXPECT_FALSE(PublicKey::p256(x, ""));
    y[31] = static_cast<char>(y[31] ^ 1);
    EXPECT_FALSE(PublicKey::p256(x, y));
    EXPECT_FALSE(PublicKey::p256(std::string(32, '\0'), std::string(32, '\0')));
}

}  // namespace
}  // namespace dormouse
