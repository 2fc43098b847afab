#pragma once
// Signing in with an OpenID provider: the browser goes there and comes back with a code.

#include "http/resources/shared.h"
#include "http/resources/tokens/oidc_person.h"
#include "oidc/provider.h"

#include <string>

namespace dormouse::http {

struct OidcSettings {
    std::string name;  // of the provider, for people
    oidc::Settings provider;
    OidcRules rules;
    Duration lasts{8 * 3'600'000};       // how long a browser stays signed in
    std::string key;                     // signs the cookie; the same after a restart
    port::HttpClient* client = nullptr;  // outlives the API, as does the clock
    port::Clock const* clock = nullptr;
};

// The part that lives as long as the API.
struct OidcSignIn {
    explicit OidcSignIn(OidcSettings const& from)
        : settings(from), flows(from.key), provider(from.provider, *from.client, *from.clock) {}

    OidcSettings const settings;
    oidc::Flows flows;
    oidc::Provider provider;
};

// The link for it on pages; empty: there is no provider.
[[nodiscard]] std::string oidc_link(Api& api, std::string const& next);

}  // namespace dormouse::http
