#include "mcp_client/sign_in/authorization.h"

#include "base/text/cut.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <vector>

namespace dormouse::mcp_client {
namespace {

constexpr std::size_t client_bytes_max = 4'096;

// The value of a parameter, with quotation marks or without.
std::string parameter(std::string_view header, std::string_view name) {
    auto const at = header.find(std::string(name) + "=");
    bool const whole = at != std::string_view::npos &&
                       (at == 0 || std::string_view(" ,").contains(header[at - 1]));
    if (!whole) return {};
    auto rest = header.substr(at + name.size() + 1);
    if (!rest.starts_with('"')) return std::string(rest.substr(0, rest.find_first_of(", ")));
    rest.remove_prefix(1);
    return std::string(rest.substr(0, rest.find('"')));
}

// Returns true if the address is safe for a person's browser or this client: over TLS, or on this
// machine.
bool is_safe(std::string const& address) {
    auto const url = parse_url(address);
    return address.size() <= address_bytes_max && url && (url->secure || url->is_loopback());
}

// A request to the token endpoint, as this client says who it is.
port::HttpRequest to_tokens(Authorizer const& at, Grant const& grant, std::string form) {
    port::HttpRequest out{.method = "POST", .url = at.tokens.token_endpoint};
    out.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                   {"Accept", "application/json"}};
    bool const in_header = !grant.client_secret.empty() && !at.tokens.secret_in_body;
    if (in_header) {
        out.headers.push_back(basic(grant.client_id, grant.client_secret));
    } else {
        add_field(form, "client_id", grant.client_id);
        add_field(form, "client_secret", grant.client_secret);
    }
    out.body = std::move(form);
    return out;
}

}  // namespace

Challenge read_challenge(std::string_view header) {
    Challenge out{.error = parameter(header, "error"), .scope = parameter(header, "scope")};
    if (out.scope.size() > scope_bytes_max) out.scope.clear();
    return out;
}

std::expected<std::string, std::string> read_resource(json::View metadata,
                                                      std::string const& resource,
                                                      std::string const& wanted) {
    std::string issuer = wanted;
    metadata["authorization_servers"].elements([&](json::View one) {
        if (issuer.empty()) issuer = one.string_or("");
    });
    if (issuer.empty())
        return std::unexpected("its protected resource metadata names no authorization server");
    if (auto wrong = wrong_resource(metadata, resource, issuer); !wrong.empty())
        return std::unexpected(std::move(wrong));
    if (!is_safe(issuer)) return std::unexpected("its authorization server has no https address");
    return issuer;
}

std::expected<Authorizer, std::string> read_authorizer(json::View metadata,
                                                       std::string const& issuer) {
    auto tokens = read_issuer(metadata, issuer);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    Authorizer out{
        .issuer = issuer,
        .tokens = *std::move(tokens),
        .authorization_endpoint = metadata["authorization_endpoint"].string_or(""),
        .registration_endpoint = metadata["registration_endpoint"].string_or(""),
        .names_itself =
            metadata["authorization_response_iss_parameter_supported"].boolean_or(false)};
    std::string const of = "the metadata of " + issuer + " has no ";
    if (!is_safe(out.authorization_endpoint))
        return std::unexpected(of + "authorization_endpoint with an https address");
    if (!lists(metadata["code_challenge_methods_supported"], "S256"))
        return std::unexpected("the authorization server " + issuer +
                               " does not support PKCE with S256, which is required");
    if (!out.registration_endpoint.empty() && !is_safe(out.registration_endpoint))
        return std::unexpected(of + "registration_endpoint with an https address");
    return out;
}

Json written(Grant const& grant) {
    json::Writer out;
    out.begin_object().member("resource", grant.resource).member("issuer", grant.issuer);
    out.member("clientID", grant.client_id).member("redirectURI", grant.redirect_uri);
    if (!grant.redirect_uri.empty()) out.member("clientSecret", grant.client_secret);
    out.member("scope", grant.scope).member("accessToken", grant.access_token);
    out.member("refreshToken", grant.refresh_token);
    if (grant.ends) out.member("ends", to_ms(*grant.ends));
    if (grant.claimed) out.member("claimed", to_ms(*grant.claimed));
    return out.end_object().json();
}

std::optional<Grant> read_grant(json::View stored) {
    Grant out{.resource = stored["resource"].string_or(""),
              .issuer = stored["issuer"].string_or(""),
              .client_id = stored["clientID"].string_or(""),
              .client_secret = stored["clientSecret"].string_or(""),
              .redirect_uri = stored["redirectURI"].string_or(""),
              .scope = stored["scope"].string_or(""),
              .access_token = stored["accessToken"].string_or(""),
              .refresh_token = stored["refreshToken"].string_or(""),
              .ends = {},
              .claimed = {}};
    if (auto const ends = stored["ends"].integer()) out.ends = from_ms(*ends);
    if (auto const claimed = stored["claimed"].integer()) out.claimed = from_ms(*claimed);
    if (out.issuer.empty() || out.client_id.empty()) return std::nullopt;
    return out;
}

std::string authorization_url(Authorizer const& at, std::string const& client_id,
                              std::string const& resource, std::string const& scope,
                              std::string const& redirect_uri,
                              port::ForeignChallenge const& challenge) {
    std::string query;
    add_field(query, "response_type", "code");
    add_field(query, "client_id", client_id);
    add_field(query, "redirect_uri", redirect_uri);
    add_field(query, "state", challenge.state);
    add_field(query, "code_challenge", challenge.challenge);
    add_field(query, "code_challenge_method", "S256");
    add_field(query, "resource", resource);
    add_field(query, "scope", scope);
    auto const& url = at.authorization_endpoint;
    return url + (url.contains('?') ? "&" : "?") + query;
}

port::HttpRequest registration_request(Authorizer const& at, std::string const& redirect_uri) {
    json::Writer out;
    out.begin_object().member("client_name", "Dormouse").key("redirect_uris").begin_array();
    out.value(redirect_uri).end_array().key("grant_types").begin_array();
    out.value("authorization_code").value("refresh_token").end_array();
    out.key("response_types").begin_array().value("code").end_array();
    out.member("token_endpoint_auth_method", "none").end_object();
    port::HttpRequest request{.method = "POST", .url = at.registration_endpoint};
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    request.body = out.take();
    return request;
}

std::expected<void, std::string> read_registration(json::View answer, Grant& grant) {
    grant.client_id = answer["client_id"].string_or("");
    grant.client_secret = answer["client_secret"].string_or("");
    bool const fits = grant.client_id.size() <= client_bytes_max &&
                      grant.client_secret.size() <= client_bytes_max;
    if (!grant.client_id.empty() && fits) return {};
    auto const error = answer["error"].string_or("");
    return std::unexpected("the issuer has not registered this client" +
                           (error.empty() ? "" : ": " + cut_with_mark(error, shown_error_max)));
}

port::HttpRequest code_request(Authorizer const& at, Grant const& grant,
                               std::string const& resource, std::string const& redirect_uri,
                               std::string const& code, std::string const& verifier) {
    std::string form;
    add_field(form, "grant_type", "authorization_code");
    add_field(form, "code", code);
    add_field(form, "redirect_uri", redirect_uri);
    add_field(form, "code_verifier", verifier);
    add_field(form, "resource", resource);
    return to_tokens(at, grant, std::move(form));
}

port::HttpRequest refresh_request(Authorizer const& at, Grant const& grant,
                                  std::string const& resource) {
    std::string form;
    add_field(form, "grant_type", "refresh_token");
    add_field(form, "refresh_token", grant.refresh_token);
    add_field(form, "resource", resource);
    return to_tokens(at, grant, std::move(form));
}

std::expected<void, std::string> read_tokens(json::View answer, Time now, Grant& grant) {
    auto token = read_token(answer);
    if (!token) return std::unexpected(std::move(token.error()));
    auto const refresh = answer["refresh_token"].string_or("");
    if (refresh.size() > token_bytes_max)
        return std::unexpected("the issuer gave a refresh token of more than 16 KiB");
    grant.access_token = std::move(token->text);
    if (!refresh.empty()) grant.refresh_token = refresh;
    if (auto const scope = answer["scope"].string_or("");
        !scope.empty() && scope.size() <= scope_bytes_max)
        grant.scope = scope;
    grant.ends = token->lifetime ? std::optional(now + *token->lifetime) : std::nullopt;
    return {};
}

bool is_over(json::View answer) {
    auto const error = answer["error"].string_or("");
    return error == "invalid_grant" || error == "invalid_client" || error == "unauthorized_client";
}

std::string joined_scopes(std::string_view first, std::string_view second) {
    std::vector<std::string_view> out;
    for (auto const text : {first, second})
        for (auto const word : split_list(text, ' '))
            if (std::ranges::find(out, word) == out.end()) out.push_back(word);
    std::string joined;
    for (auto const word : out) joined += (joined.empty() ? "" : " ") + std::string(word);
    return joined;
}

}  // namespace dormouse::mcp_client
