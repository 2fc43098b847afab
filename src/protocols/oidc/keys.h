#pragma once
// The public keys of a provider: a JSON Web Key Set (RFC 7517). Keys for RS256 and ES256 are read;
// all others are ignored.

#include "base/crypto/public_key.h"
#include "json/json.h"

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::oidc {

enum class Algorithm : std::uint8_t { rs256, es256 };

struct Key {
    std::string id;  // empty: it has none
    Algorithm algorithm = Algorithm::rs256;
    PublicKey key;
};
using Keys = std::vector<Key>;

inline constexpr std::size_t keys_max = 100;

// The error says what is wrong: "is not JSON".
[[nodiscard]] std::expected<Keys, std::string> parse_keys(std::string_view text);

}  // namespace dormouse::oidc
