#pragma once
// The grant authorization_code with PKCE (OAuth 2.1), with which a person signs in to a server over
// HTTP: its messages, and what is remembered between them. Pure.

#include "json/json.h"
#include "mcp_client/settings.h"
#include "mcp_client/sign_in/oauth.h"
#include "port/foreign_sign_in.h"
#include "port/http.h"

#include <dormouse/time.h>

#include <expected>
#include <string>
#include <string_view>

namespace dormouse::mcp_client {

inline constexpr std::size_t address_bytes_max = 8'192;
inline constexpr std::size_t scope_bytes_max = 2'048;

// The parameters of a challenge (WWW-Authenticate).
struct Challenge {
    std::string error;  // "invalid_token", "insufficient_scope"; empty: none
    std::string scope;  // what the request needs; empty: unknown
};
[[nodiscard]] Challenge read_challenge(std::string_view header);

// An authorization server, as its metadata (RFC 8414) describes it.
struct Authorizer {
    std::string issuer;
    Issuer tokens;
    std::string authorization_endpoint;
    std::string registration_endpoint;  // empty: it registers nobody (RFC 7591)
    bool names_itself = false;          // its answers have `iss` (RFC 9207)
};
// Errors: why nobody can sign in there.
[[nodiscard]] std::expected<Authorizer, std::string> read_authorizer(json::View metadata,
                                                                     std::string const& issuer);
// The authorization server of a resource: `wanted`, or the first that its metadata names.
// Errors: what is wrong with the metadata.
[[nodiscard]] std::expected<std::string, std::string> read_resource(json::View metadata,
                                                                    std::string const& resource,
                                                                    std::string const& wanted);

// The stored result of a person's sign-in. Holds secrets.
struct Grant {
    std::string resource;  // the address of the server; no other gets its tokens
    std::string issuer;
    std::string client_id;
    std::string client_secret;  // empty: a public client
    std::string redirect_uri;   // with which a client was registered; empty: it is configured
    std::string scope;          // that was granted
    std::string access_token;
    std::string refresh_token;  // empty: when the access token ends, a person signs in again
    std::optional<Time> ends;   // of the access token; nullopt: unknown
    // A process renews the token: until then no other does. Stored only where processes share it.
    std::optional<Time> claimed;
    friend bool operator==(Grant const&, Grant const&) = default;
};
// Without the secret of a configured client, which stays in the configuration alone.
[[nodiscard]] Json written(Grant const& grant);
// nullopt: it is none.
[[nodiscard]] std::optional<Grant> read_grant(json::View stored);

[[nodiscard]] std::string authorization_url(Authorizer const& at, std::string const& client_id,
                                            std::string const& resource, std::string const& scope,
                                            std::string const& redirect_uri,
                                            port::ForeignChallenge const& challenge);
[[nodiscard]] port::HttpRequest registration_request(Authorizer const& at,
                                                     std::string const& redirect_uri);
// Sets id and secret. Errors: why the client is not registered.
[[nodiscard]] std::expected<void, std::string> read_registration(json::View answer, Grant& grant);
[[nodiscard]] port::HttpRequest code_request(Authorizer const& at, Grant const& grant,
                                             std::string const& resource,
                                             std::string const& redirect_uri,
                                             std::string const& code, std::string const& verifier);
[[nodiscard]] port::HttpRequest refresh_request(Authorizer const& at, Grant const& grant,
                                                std::string const& resource);
// Sets the tokens and what was granted; keeps the refresh token if there is no new one.
// Errors: why there is no token; never has one, nor a secret.
[[nodiscard]] std::expected<void, std::string> read_tokens(json::View answer, Time now,
                                                           Grant& grant);
// Returns true if the answer to refresh_request() says that a person must sign in again.
[[nodiscard]] bool is_over(json::View answer);

// Both lists of scopes as one; each scope once.
[[nodiscard]] std::string joined_scopes(std::string_view first, std::string_view second);

}  // namespace dormouse::mcp_client
