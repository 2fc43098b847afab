#include "mcp_client/sign_in/oauth.h"

#include "base/text/chars.h"
#include "base/text/cut.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <array>

namespace dormouse::mcp_client {
namespace {

std::string path_of(Url const& url) {
    std::string path = url.target.substr(0, url.target.find('?'));
    while (path.ends_with('/')) path.pop_back();
    return path;
}

// RFC 6750, b64token.
bool is_token(std::string_view text) {
    return !text.empty() && text.size() <= token_bytes_max && is_made_of(text, "-._~+/=");
}

// A resource names the server if it is its address or the beginning of it.
bool names(Url const& resource, Url const& server) {
    if (resource.origin() != server.origin()) return false;
    auto const path = path_of(resource);
    auto const whole = path_of(server);
    return whole == path || whole.starts_with(path + "/");
}

}  // namespace

void add_field(std::string& form, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    form += (form.empty() ? "" : "&") + std::string(name) + "=" + percent_encode(value);
}

bool lists(json::View list, std::string_view text) {
    bool found = false;
    list.elements([&](json::View one) { found = found || one.string() == text; });
    return found;
}

port::HttpHeader basic(std::string const& id, std::string const& secret) {
    std::string const pair = percent_encode(id) + ":" + percent_encode(secret);
    return {"Authorization",
            "Basic " + base64({reinterpret_cast<std::uint8_t const*>(pair.data()), pair.size()})};
}

std::string metadata_in(std::string_view challenge) {
    constexpr std::string_view name = "resource_metadata=\"";
    auto const at = challenge.find(name);
    if (at == std::string_view::npos) return {};
    auto const rest = challenge.substr(at + name.size());
    return std::string(rest.substr(0, rest.find('"')));
}

std::vector<std::string> resource_metadata_urls(std::string const& resource,
                                                std::string_view challenge) {
    auto const url = parse_url(resource);
    if (!url) return {};
    std::vector<std::string> out;
    auto const named = metadata_in(challenge);
    if (auto const there = parse_url(named); there && there->origin() == url->origin())
        out.push_back(named);
    std::string const known = url->origin() + "/.well-known/oauth-protected-resource";
    if (!path_of(*url).empty()) out.push_back(known + path_of(*url));
    out.push_back(known);
    return out;
}

std::vector<std::string> issuer_metadata_urls(std::string const& issuer) {
    auto const url = parse_url(issuer);
    if (!url) return {};
    auto const path = path_of(*url);
    std::vector<std::string> out{url->origin() + "/.well-known/oauth-authorization-server" + path,
                                 url->origin() + "/.well-known/openid-configuration" + path};
    if (!path.empty()) out.push_back(url->origin() + path + "/.well-known/openid-configuration");
    return out;
}

std::string wrong_resource(json::View metadata, std::string const& resource,
                           std::string const& issuer) {
    auto const named = parse_url(metadata["resource"].string_or(""));
    auto const server = parse_url(resource);
    if (!named || !server || !names(*named, *server))
        return "its protected resource metadata is of another resource";
    if (!lists(metadata["authorization_servers"], issuer))
        return "its protected resource metadata does not name the issuer " + issuer;
    return {};
}

std::expected<Issuer, std::string> read_issuer(json::View metadata, std::string const& issuer) {
    if (metadata["issuer"].string() != issuer)
        return std::unexpected("the metadata of " + issuer + " is of another issuer");
    Issuer out{.token_endpoint = metadata["token_endpoint"].string_or("")};
    auto const url = parse_url(out.token_endpoint);
    if (!url || (!url->secure && !url->is_loopback()))
        return std::unexpected("the metadata of " + issuer +
                               " has no token_endpoint with an https address");
    auto const methods = metadata["token_endpoint_auth_methods_supported"];
    out.secret_in_body =
        !lists(methods, "client_secret_basic") && lists(methods, "client_secret_post");
    return out;
}

port::HttpRequest token_request(Issuer const& issuer, OAuthClient const& client,
                                std::string const& resource) {
    port::HttpRequest out{.method = "POST", .url = issuer.token_endpoint};
    out.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                   {"Accept", "application/json"}};
    add_field(out.body, "grant_type", "client_credentials");
    add_field(out.body, "resource", resource);
    if (!client.scope.empty()) add_field(out.body, "scope", client.scope);
    if (issuer.secret_in_body) {
        add_field(out.body, "client_id", client.id);
        add_field(out.body, "client_secret", client.secret);
        return out;
    }
    out.headers.push_back(basic(client.id, client.secret));
    return out;
}

std::expected<Token, std::string> read_token(json::View answer) {
    Token out{.text = answer["access_token"].string_or("")};
    if (!is_token(out.text)) {
        auto const error = answer["error"].string_or("");
        return std::unexpected("the issuer gave no token" +
                               (error.empty() ? "" : ": " + cut_with_mark(error, shown_error_max)));
    }
    if (lower_case(answer["token_type"].string_or("")) != "bearer")
        return std::unexpected("the issuer gave a token that is not of the type Bearer");
    if (auto const seconds = answer["expires_in"].integer(); seconds && *seconds >= 0)
        out.lifetime = Duration(std::min<std::int64_t>(*seconds, 366 * 86'400) * 1'000);
    return out;
}

}  // namespace dormouse::mcp_client
