#pragma once
// The discovery document of a provider (OpenID Connect Discovery 1.0).

#include <expected>
#include <string>
#include <string_view>

namespace dormouse::oidc {

struct Metadata {
    std::string authorization_endpoint;
    std::string token_endpoint;
    std::string jwks_uri;
    // A client with a secret sends it in the body; false: in the header.
    bool secret_in_body = false;
    bool names_itself = false;  // answers have `iss` (RFC 9207)
};

// The address of the document: ISSUER/.well-known/openid-configuration.
[[nodiscard]] std::string discovery_url(std::string_view issuer);

// Endpoints must be https, or http on this machine if the issuer is that. The error says what is
// wrong: "names another issuer".
[[nodiscard]] std::expected<Metadata, std::string> parse_metadata(std::string_view text,
                                                                  std::string_view issuer);

// Empty: such a URL may be called. Else what is wrong: "must be https, except on this machine".
[[nodiscard]] std::string_view wrong_issuer(std::string_view url);

}  // namespace dormouse::oidc
