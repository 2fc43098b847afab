#pragma once
// SHA-256 (FIPS 180-4) by OpenSSL. The digest's type and text are in <dormouse/vocabulary.h>.

#include <dormouse/id.h>
#include <dormouse/vocabulary.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dormouse {

using Random = std::array<std::uint8_t, 32>;  // the randomness of a command

[[nodiscard]] Sha256 sha256(std::string_view bytes);
// HMAC (RFC 2104) with SHA-256.
[[nodiscard]] Sha256 hmac_sha256(std::string_view key, std::string_view bytes);
// Compares in constant time.
[[nodiscard]] bool same_digest(Sha256 const& a, Sha256 const& b);
// The n-th id drawn from a command: SHA-256(random ‖ n as 4 bytes, big-endian), cut to 128 bits.
[[nodiscard]] Bits128 draw(Random const& random, std::uint32_t n);

}  // namespace dormouse
