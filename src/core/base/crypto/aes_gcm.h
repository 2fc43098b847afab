#pragma once
// AES-GCM (NIST SP 800-38D) by OpenSSL.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse {

using AesKey = std::array<std::uint8_t, 16>;
using AesNonce = std::array<std::uint8_t, 12>;  // never twice with one key

// Returns the ciphertext and its tag of 16 bytes.
[[nodiscard]] std::string aes128_gcm(AesKey const& key, AesNonce const& nonce,
                                     std::string_view text);

using Aes256Key = std::array<std::uint8_t, 32>;

// Returns the ciphertext and its tag of 16 bytes. `bound` is authenticated with it, and not part of
// it.
[[nodiscard]] std::string aes256_gcm(Aes256Key const& key, AesNonce const& nonce,
                                     std::string_view text, std::string_view bound);
// nullopt: another key, nonce or `bound`, or changed bytes.
[[nodiscard]] std::optional<std::string> open_aes256_gcm(Aes256Key const& key,
                                                         AesNonce const& nonce,
                                                         std::string_view sealed,
                                                         std::string_view bound);

}  // namespace dormouse
