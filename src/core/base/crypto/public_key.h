#pragma once
// Public keys of others, by OpenSSL: RSA (PKCS #1 v1.5) and ECDSA on P-256, both with SHA-256.
// These are RS256 and ES256 of RFC 7518.

#include <memory>
#include <optional>
#include <string_view>

struct evp_pkey_st;

namespace dormouse {

class PublicKey {
public:
    // Numbers are big-endian bytes. nullopt: no key of 2048 to 8192 bits with an odd exponent from
    // 3 to 2^32.
    [[nodiscard]] static std::optional<PublicKey> rsa(std::string_view modulus,
                                                      std::string_view exponent);
    // The coordinates of a point, 32 bytes each. nullopt: not on the curve.
    [[nodiscard]] static std::optional<PublicKey> p256(std::string_view x, std::string_view y);

    // `signature`: of RSA as long as the modulus; of ECDSA r and s, 32 bytes each.
    [[nodiscard]] bool verify(std::string_view message, std::string_view signature) const;

private:
    PublicKey(std::shared_ptr<evp_pkey_st> key, bool ecdsa) : key_(std::move(key)), ecdsa_(ecdsa) {}

    std::shared_ptr<evp_pkey_st> key_;
    bool ecdsa_;
};

}  // namespace dormouse
