#pragma once
// Verifies an ID token (OpenID Connect Core 1.0, 3.1.3.7): a JSON Web Signature in compact form,
// signed with RS256 or ES256. Every other algorithm is refused, `none` and HS256 too.

#include "oidc/keys.h"

#include <dormouse/time.h>

#include <expected>
#include <string>
#include <string_view>

namespace dormouse::oidc {

inline constexpr std::size_t id_token_bytes_max = std::size_t{64} << 10;
inline constexpr Duration clock_leeway{60'000};

struct Expected {
    std::string issuer;
    std::string client_id;
    std::string nonce;
    Time now{};
};

struct Claims {
    std::string subject;
    Json all;  // an object
};

struct Refusal {
    // No key has the token's `kid`: the provider may have changed its keys.
    bool unknown_key = false;
    std::string why;  // for a person; holds nothing of the token but its `alg`
};

[[nodiscard]] std::expected<Claims, Refusal> verify_id_token(std::string_view token,
                                                             Keys const& keys,
                                                             Expected const& expected);

}  // namespace dormouse::oidc
