#pragma once
// Settings of [oidc], as the API needs them.

#include "config/config.h"
#include "http/resources/tokens/oidc_sign_in.h"

#include <memory>
#include <string>

namespace dormouse::app {

// Null: no provider is configured. `secret`: one of the data directory; the key that binds a
// sign-in to its browser is made from it.
[[nodiscard]] std::shared_ptr<http::OidcSettings> oidc_of(config::Oidc const& config,
                                                          std::string const& secret);

}  // namespace dormouse::app
