#pragma once
// Signed tokens and key sets for tests.

#include "base/testing/signing_key.h"
#include "base/text/text.h"
#include "json/json.h"

#include <string>
#include <string_view>

namespace dormouse::oidc::testing {

using dormouse::testing::SigningKey;

inline std::string encoded(std::string_view text) {
    return base64url({reinterpret_cast<std::uint8_t const*>(text.data()), text.size()});
}

// The members of a public key: {"kty":…}, with `kid` and more members in front.
inline std::string jwk(SigningKey const& key, bool ecdsa, std::string_view kid,
                       std::string const& more = "") {
    std::string out = "{" + more;
    if (!kid.empty()) out += "\"kid\":" + json::quote(kid) + ",";
    if (ecdsa)
        return out + R"("kty":"EC","crv":"P-256","x":")" + encoded(key.number("qx")) +
               R"(","y":")" + encoded(key.number("qy")) + "\"}";
    return out + R"("kty":"RSA","n":")" + encoded(key.number("n")) + R"(","e":")" +
           encoded(key.number("e")) + "\"}";
}

inline std::string jwks(std::string const& keys) { return "{\"keys\":[" + keys + "]}"; }

inline std::string token(SigningKey const& key, std::string_view header, std::string_view claims) {
    std::string const text = encoded(header) + "." + encoded(claims);
    return text + "." + encoded(key.sign(text));
}

}  // namespace dormouse::oidc::testing
