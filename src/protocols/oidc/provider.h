#pragma once
// An OpenID provider: where to send the browser, and what became of the sign-in. Discovery document
// and keys are kept for an hour; a token with an unknown key fetches the keys again, at most once a
// minute. On the loop.

#include "base/scope.h"
#include "oidc/cached.h"
#include "oidc/flow.h"
#include "oidc/id_token.h"
#include "oidc/metadata.h"
#include "port/http.h"

#include <expected>
#include <string>
#include <vector>

namespace dormouse::oidc {

struct Settings {
    std::string issuer;
    std::string client_id;
    std::string client_secret = {};  // empty: a public client
    std::vector<std::string> scopes = {"openid"};
};

struct Failure {
    enum class Kind : std::uint8_t {
        unreachable,  // no answer, or one that is no answer of a provider
        code,         // the provider did not accept the code
        settings,     // the provider did not accept the client
        token,        // the ID token failed its checks
    };
    Kind kind = Kind::unreachable;
    std::string why;  // for a person; holds no secret, code or token
};
template <class T> using Answer = std::expected<T, Failure>;

// The answer of the provider, which came with the browser.
struct Redirect {
    std::string code;
    std::string issuer;  // empty: not named
    std::string redirect_uri;
};

class Provider {
public:
    // `client` and `clock` outlive this.
    Provider(Settings settings, port::HttpClient& client, port::Clock const& clock)
        : settings_(std::move(settings)), client_(client), clock_(clock) {}

    // The URL to which the browser goes.
    void begin(Flow const& flow, std::string const& redirect_uri,
               port::Fn<void(Answer<std::string>)> done);
    // Exchanges the code for the ID token, and verifies it.
    void finish(Flow const& flow, Redirect redirect, port::Fn<void(Answer<Claims>)> done);

    [[nodiscard]] Settings const& settings() const { return settings_; }

private:
    using MetadataPtr = std::shared_ptr<Metadata const>;
    using Done = port::Fn<void(Answer<Claims>)>;

    void with_metadata(port::Fn<void(Answer<MetadataPtr>)> done);
    void with_keys(MetadataPtr const& metadata, Duration age, Cached<Keys>::Done done);
    void exchange(MetadataPtr const& metadata, Flow const& flow, Redirect const& redirect,
                  Done done);
    void verify(MetadataPtr const& metadata, std::string token, std::string nonce, Duration age,
                Done done);
    [[nodiscard]] port::HttpRequest token_request(Metadata const& metadata, Flow const& flow,
                                                  Redirect const& redirect) const;

    Settings const settings_;
    port::HttpClient& client_;
    port::Clock const& clock_;
    Cached<Metadata> metadata_;
    Cached<Keys> keys_;
    Scope scope_;
};

}  // namespace dormouse::oidc
