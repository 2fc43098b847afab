#include "base/crypto/p256.h"
#include "base/crypto/aes_gcm.h"

#include "base/text/base64url.h"
#include "base/text/text.h"

#include <gtest/gtest.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <vector>

namespace dormouse {
namespace {

template <class Bytes> Bytes bytes(std::string_view text) {
    Bytes out{};
    std::string const read = parse_base64url(text).value();
    EXPECT_EQ(read.size(), out.size());
    std::ranges::transform(read, out.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    return out;
}

// The keys of RFC 8291, appendix A.
auto const sender = bytes<P256Secret>("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
auto const receiver = bytes<P256Secret>("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94");
constexpr std::string_view sender_point =
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8";
constexpr std::string_view receiver_point =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

TEST(P256, PublicKeys_AreThoseOfTheRfc) {
    EXPECT_EQ(base64url(p256_public(sender).value()), sender_point);
    EXPECT_EQ(base64url(p256_public(receiver).value()), receiver_point);
}

TEST(P256, SecretOutOfRange_HasNoPublicKey) {
    P256Secret secret{};
    EXPECT_FALSE(p256_public(secret));
    secret.fill(0xFF);
    EXPECT_FALSE(p256_public(secret));
}

TEST(P256, Agreement_IsThatOfTheRfcFromBothSides) {
    auto const one = p256_agree(sender, p256_public(receiver).value());
    EXPECT_EQ(base64url(one), "kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs");
    EXPECT_EQ(p256_agree(receiver, p256_public(sender).value()), one);
}

TEST(P256, PointOffTheCurve_IsRefused) {
    std::string point = parse_base64url(sender_point).value();
    EXPECT_TRUE(parse_p256_point(point));
    EXPECT_FALSE(parse_p256_point(point + "x"));
    EXPECT_FALSE(parse_p256_point(""));
    std::string packed = point;
    packed[0] = 2;
    EXPECT_FALSE(parse_p256_point(packed));
    point[64] ^= 1;
    EXPECT_FALSE(parse_p256_point(point));
}

// Checked by OpenSSL from the forms that it reads: SubjectPublicKeyInfo and a DER signature.
bool verifies(P256Point const& point, P256Signature const& signature, std::string_view text) {
    std::string info = parse_base64url("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgA").value();
    info.append(point.begin(), point.end());
    auto const* from = reinterpret_cast<unsigned char const*>(info.data());
    EVP_PKEY* const key = d2i_PUBKEY(nullptr, &from, static_cast<long>(info.size()));
    EXPECT_NE(key, nullptr);
    ECDSA_SIG* const sig = ECDSA_SIG_new();
    ECDSA_SIG_set0(sig, BN_bin2bn(signature.data(), 32, nullptr),
                   BN_bin2bn(signature.data() + 32, 32, nullptr));
    unsigned char* der = nullptr;
    int const length = i2d_ECDSA_SIG(sig, &der);
    EVP_MD_CTX* const context = EVP_MD_CTX_new();
    EXPECT_EQ(EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key), 1);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(text.data());
    bool const out =
        EVP_DigestVerify(context, der, static_cast<std::size_t>(length), bytes, text.size()) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ECDSA_SIG_free(sig);
    EVP_PKEY_free(key);
    return out;
}

TEST(P256, Signature_VerifiesForItsTextOnly) {
    auto const point = p256_public(sender).value();
    for (int n = 0; n < 64; ++n) {  // numbers with leading zeros are rare
        std::string const text = "text " + std::to_string(n);
        auto const signature = es256(sender, text);
        EXPECT_TRUE(verifies(point, signature, text));
        EXPECT_FALSE(verifies(point, signature, text + "!"));
    }
}

std::string hex_of(std::string const& text) {
    return hex(std::vector<std::uint8_t>(text.begin(), text.end()));
}

// NIST's GCM example, test case 2 of the GCM specification.
TEST(AesGcm, NistExample_KnownAnswer) {
    EXPECT_EQ(hex_of(aes128_gcm({}, {}, "")), "58e2fccefa7e3061367f1d57a4e7455a");
    EXPECT_EQ(hex_of(aes128_gcm({}, {}, std::string(16, '\0'))),
              "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf");
}

TEST(Base64url, PaddingAndOtherAlphabet_AreRefused) {
    EXPECT_EQ(parse_base64url("-_8").value(), "\xFB\xFF");
    EXPECT_EQ(parse_base64url("").value(), "");
    for (char const* const bad : {"+/8", "-_8=", "a", "-_9", "- _8"})
        EXPECT_FALSE(parse_base64url(bad)) << bad;
}

}  // namespace
}  // namespace dormouse
