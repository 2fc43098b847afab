#pragma once
// OAuth 2.1 for servers over HTTP, as the protocol uses it: protected resource metadata (RFC 9728),
// metadata of the authorization server (RFC 8414), and the grant client_credentials with the
// server as resource (RFC 8707). Pure.

#include "json/json.h"
#include "mcp_client/settings.h"
#include "port/http.h"

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::mcp_client {

inline constexpr std::size_t token_bytes_max = 16'384;
inline constexpr std::size_t shown_error_max = 200;

// Adds a field to a body of application/x-www-form-urlencoded, unless it is empty.
void add_field(std::string& form, std::string_view name, std::string_view value);
// Returns true if the array contains this text.
[[nodiscard]] bool lists(json::View list, std::string_view text);
// The header with which a client with a secret says who it is.
[[nodiscard]] port::HttpHeader basic(std::string const& id, std::string const& secret);

// The address of the metadata that a challenge (WWW-Authenticate) names; empty: none.
[[nodiscard]] std::string metadata_in(std::string_view challenge);
// Where the metadata of a resource may be, to be tried in this order. `challenge`: of its 401.
// An address in the challenge counts only if it has the resource's origin.
[[nodiscard]] std::vector<std::string> resource_metadata_urls(std::string const& resource,
                                                              std::string_view challenge);
// Where the metadata of an authorization server may be, to be tried in this order.
[[nodiscard]] std::vector<std::string> issuer_metadata_urls(std::string const& issuer);

// Why this metadata does not let the issuer give tokens for the resource; empty: it does.
[[nodiscard]] std::string wrong_resource(json::View metadata, std::string const& resource,
                                         std::string const& issuer);

struct Issuer {
    std::string token_endpoint;
    bool secret_in_body = false;  // else in the header
};
// Errors: what is wrong with the metadata.
[[nodiscard]] std::expected<Issuer, std::string> read_issuer(json::View metadata,
                                                             std::string const& issuer);

[[nodiscard]] port::HttpRequest token_request(Issuer const& issuer, OAuthClient const& client,
                                              std::string const& resource);

struct Token {
    std::string text;
    std::optional<Duration> lifetime = {};
};
// Errors: what is wrong with the answer; never has the token or a secret.
[[nodiscard]] std::expected<Token, std::string> read_token(json::View answer);

}  // namespace dormouse::mcp_client
