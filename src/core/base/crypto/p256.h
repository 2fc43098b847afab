#pragma once
// The elliptic curve P-256 (FIPS 186-5) by OpenSSL: key agreement and ES256 signatures, with
// private keys that the caller draws.

#include "base/crypto/sha256.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dormouse {

using P256Secret = std::array<std::uint8_t, 32>;     // big-endian
using P256Point = std::array<std::uint8_t, 65>;      // 4, x, y
using P256Signature = std::array<std::uint8_t, 64>;  // r, s

// Returns the public key; nullopt: the secret is zero or too large (of random bytes, one in 2^32).
[[nodiscard]] std::optional<P256Point> p256_public(P256Secret const& secret);
// nullopt unless the bytes are an uncompressed point of the curve.
[[nodiscard]] std::optional<P256Point> parse_p256_point(std::string_view bytes);
// Returns the shared secret (ECDH). REQUIRES: both are valid.
[[nodiscard]] Sha256 p256_agree(P256Secret const& own, P256Point const& peer);
// Signs SHA-256 of the text (RFC 7518, section 3.4). REQUIRES: the secret is valid.
[[nodiscard]] P256Signature es256(P256Secret const& secret, std::string_view text);

}  // namespace dormouse
