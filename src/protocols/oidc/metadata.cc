#include "oidc/metadata.h"

#include "base/url.h"
#include "json/json.h"

namespace dormouse::oidc {

namespace {

bool lists(json::View list, std::string_view word) {
    bool found = false;
    list.elements([&](json::View one) { found |= one.string() == word; });
    return found;
}

// Returns what is wrong with the endpoint; empty: nothing.
std::string read_endpoint(json::View document, char const* name, bool near, std::string& out) {
    out = document[name].string_or("");
    auto const url = parse_url(out);
    if (!url) return std::string("has no ") + name + " that is a URL";
    if (url->secure || (near && url->is_loopback())) return {};
    return std::string("has a ") + name + " that is not https";
}

}  // namespace

std::string discovery_url(std::string_view issuer) {
    if (issuer.ends_with('/')) issuer.remove_suffix(1);
    return std::string(issuer) + "/.well-known/openid-configuration";
}

std::string_view wrong_issuer(std::string_view url) {
    auto const parts = parse_url(url);
    if (!parts) return parts.error();
    if (parts->target.find('?') != std::string::npos) return "must have no query";
    return parts->secure || parts->is_loopback() ? "" : "must be https, except on this machine";
}

std::expected<Metadata, std::string> parse_metadata(std::string_view text,
                                                    std::string_view issuer) {
    auto const json = json::check(text);
    if (!json || json::View(*json).kind() != json::Kind::object)
        return std::unexpected("is not a JSON object");
    json::View const document(*json);
    if (document["issuer"].string() != issuer)
        return std::unexpected("names another issuer; write its `issuer` into [oidc]");
    auto const own = parse_url(issuer);
    bool const near = own && !own->secure && own->is_loopback();
    Metadata out;
    for (auto const& [name, to] :
         {std::pair{"authorization_endpoint", &out.authorization_endpoint},
          std::pair{"token_endpoint", &out.token_endpoint}, std::pair{"jwks_uri", &out.jwks_uri}}) {
        if (auto why = read_endpoint(document, name, near, *to); !why.empty())
            return std::unexpected(std::move(why));
    }
    // The default is the header (Discovery 1.0, 3).
    json::View const methods = document["token_endpoint_auth_methods_supported"];
    out.secret_in_body =
        !lists(methods, "client_secret_basic") && lists(methods, "client_secret_post");
    out.names_itself = document["authorization_response_iss_parameter_supported"].boolean_or(false);
    return out;
}

}  // namespace dormouse::oidc
