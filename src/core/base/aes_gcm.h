#pragma once
// AES-128-GCM (NIST SP 800-38D) by OpenSSL.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse {

using AesKey = std::array<std::uint8_t, 16>;
using AesNonce = std::array<std::uint8_t, 12>;  // never twice with one key

// Returns the ciphertext and its tag of 16 bytes.
[[nodiscard]] std::string aes128_gcm(AesKey const& key, AesNonce const& nonce,
                                     std::string_view text);

}  // namespace dormouse
