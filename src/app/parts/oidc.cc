#include "app/parts/oidc.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"

namespace dormouse::app {

std::shared_ptr<http::OidcSettings> oidc_of(config::Oidc const& config, std::string const& secret) {
    if (config.issuer.empty()) return nullptr;
    auto out = std::make_shared<http::OidcSettings>();
    out->name = config.name;
    out->provider = {.issuer = config.issuer,
                     .client_id = config.client_id,
                     .client_secret = config.client_secret ? config.client_secret->value : "",
                     .scopes = config.scopes};
    out->rules = {.groups_claim = config.groups_claim, .name_claim = config.name_claim};
    for (config::OidcRole const& one : config.roles) {
        out->rules.roles.push_back({.group = one.group,
                                    .role = http::parse_role(one.role).value_or(http::Role::read),
                                    .projects = one.projects});
    }
    out->lasts = config.session_length;
    out->key = hex(hmac_sha256(secret, "dormouse sign-in 1"));
    return out;
}

}  // namespace dormouse::app
