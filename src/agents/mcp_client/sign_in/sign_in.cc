#include "mcp_client/sign_in/sign_in.h"

#include "base/check.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::mcp_client {
namespace {

constexpr Duration early{30'000};  // before its end a token is not used any more
// So many people can sign in at the same time; the oldest must begin again then.
constexpr std::size_t begun_max = 32;

std::string scopes_in(json::View list) {
    std::string out;
    list.elements([&](json::View one) { out = joined_scopes(out, one.string_or("")); });
    return out.size() <= scope_bytes_max ? out : "";
}

// RFC 9207: an answer of another authorization server is not exchanged.
bool is_of_another(port::ForeignCode const& code, Authorizer const& at) {
    bool const missing = at.names_itself && code.issuer.empty();
    return missing || (!code.issuer.empty() && code.issuer != at.issuer);
}

}  // namespace

SignIn::SignIn(ServerSettings const& server, port::HttpClient& client, port::Clock const& clock,
               SignInServices services, std::function<void()> changed)
    : server_(server),
      clock_(clock),
      services_(std::move(services)),
      changed_(std::move(changed)),
      fetches_(client) {
    CHECK(server_.sign_in.has_value());
    read_stored();
}

// A grant serves the address, the issuer and the client that it was given for: after a change of
// the configuration a person signs in again. Of a grant without an address nobody knows it.
void SignIn::read_stored() {
    auto const stored = services_.load ? services_.load(server_.name) : std::nullopt;
    auto grant = stored ? read_grant(json::View(*stored)) : std::nullopt;
    if (!grant || grant->resource != server_.url) return;
    OAuthClient const& configured = *server_.sign_in;
    if (!configured.issuer.empty() && grant->issuer != configured.issuer) return;
    if (grant->redirect_uri.empty()) {
        if (grant->client_id != configured.id) return;
        grant->client_secret = configured.secret;
    }
    grant_ = std::move(grant);
}

std::string SignIn::page() const { return services_.page ? services_.page(server_.name) : ""; }

// A token that is still valid lacks rights, so the sign-in has not ended.
port::ForeignSignInState SignIn::state() const {
    using State = port::ForeignSignInState;
    if (needed_) return grant_ && token().empty() ? State::expired : State::needed;
    bool const usable = grant_ && (!token().empty() || !grant_->refresh_token.empty());
    return usable ? State::good : State::unasked;
}

std::string SignIn::need() {
    if (!std::exchange(needed_, true) && changed_) changed_();
    return "a person must sign in: open " + page();
}

std::string SignIn::token() const {
    if (!grant_) return {};
    bool const over = grant_->ends && clock_.now() >= *grant_->ends - early;
    return over ? "" : grant_->access_token;
}

// Where its issuer is described may be known from a challenge only: after a restart the first
// request is sent without a token, to be challenged, if the stored one has ended.
bool SignIn::wanted() const {
    return grant_ && (!token().empty() || (!grant_->refresh_token.empty() && !challenge_.empty()));
}

void SignIn::renew(std::string const& challenge, std::string const& refused, Done done) {
    if (!renewing_ && !token().empty() && token() != refused) return done("");
    if (!challenge.empty()) {
        challenge_ = challenge;
        scope_wanted_ = joined_scopes(scope_wanted_, read_challenge(challenge).scope);
    }
    waiting_.push_back(std::move(done));
    if (renewing_) return;
    if (grant_ && grant_->access_token == refused) grant_->access_token.clear();
    if (!grant_ || grant_->refresh_token.empty()) return renewed(need());
    renewing_ = true;
    discover([this](std::expected<Authorizer, std::string> const& at) {
        if (!at) return renewed(at.error());
        if (!grant_ || at->issuer != grant_->issuer) return renewed(need());
        refresh(*at);
    });
}

// The server may replace the refresh token: the new one is stored before the access token is used.
void SignIn::refresh(Authorizer const& at) {
    fetches_.send(refresh_request(at, *grant_, server_.url),
                  [this](std::expected<Fetches::Answer, std::string> const& answer) {
                      if (!answer) return renewed("its issuer gave no token: " + answer.error());
                      json::View const view(answer->body);
                      if (is_over(view)) {
                          grant_->refresh_token.clear();
                          keep(*grant_);
                          return renewed(need());
                      }
                      Grant grant = *grant_;
                      auto const read = read_tokens(view, clock_.now(), grant);
                      if (!read) return renewed(read.error());
                      keep(grant);
                      grant_ = std::move(grant);
                      renewed("");
                  });
}

void SignIn::renewed(std::string const& why) {
    renewing_ = false;
    for (Done const& done : std::exchange(waiting_, {})) done(why);
}

// A connection of the former configuration ends its calls while somebody has signed in at the new
// address: that grant stays.
void SignIn::keep(Grant const& grant) const {
    auto const stored = services_.load ? services_.load(server_.name) : std::nullopt;
    auto const other = stored ? read_grant(json::View(*stored)) : std::nullopt;
    if (!other || other->resource == grant.resource) services_.save(server_.name, written(grant));
}

void SignIn::take(Grant grant) {
    services_.save(server_.name, written(grant));
    grant_ = std::move(grant);
}

// A person can allow more than the token has (RFC 6750, insufficient_scope).
std::string SignIn::lacks(std::string const& challenge) {
    auto const read = read_challenge(challenge);
    if (read.error != "insufficient_scope" || read.scope.empty()) return {};
    scope_wanted_ = joined_scopes(scope_wanted_, read.scope);
    return "it needs more rights (" + read.scope + "); " + need();
}

void SignIn::discover(Found found) {
    auto got = [this, found = std::move(found)](
                   std::expected<Fetches::Answer, std::string> const& answer) {
        if (!answer)
            return found(
                std::unexpected("it has no protected resource metadata (" + answer.error() + ")"));
        discover_issuer(answer->body, found);
    };
    fetches_.first_of(resource_metadata_urls(server_.url, challenge_), std::move(got));
}

void SignIn::discover_issuer(Json const& resource, Found found) {
    json::View const view(resource);
    auto const issuer = read_resource(view, server_.url, server_.sign_in->issuer);
    if (!issuer) return found(std::unexpected(issuer.error()));
    scope_offered_ = scopes_in(view["scopes_supported"]);
    auto got = [issuer = *issuer, found = std::move(found)](
                   std::expected<Fetches::Answer, std::string> const& answer) {
        if (!answer)
            return found(std::unexpected("its issuer " + issuer + " has no metadata (" +
                                         answer.error() + ")"));
        found(read_authorizer(json::View(answer->body), issuer));
    };
    fetches_.first_of(issuer_metadata_urls(*issuer), std::move(got));
}

// The configured client, the one that was registered before, or a new one.
void SignIn::with_client(Authorizer const& at, std::string const& redirect_uri,
                         std::function<void(std::expected<Grant, std::string>)> then) {
    Grant grant{.resource = server_.url,
                .issuer = at.issuer,
                .client_id = server_.sign_in->id,
                .client_secret = server_.sign_in->secret};
    if (!grant.client_id.empty()) return then(std::move(grant));
    grant.redirect_uri = redirect_uri;
    bool const registered = grant_ && grant_->issuer == at.issuer &&
                            grant_->redirect_uri == redirect_uri && !grant_->client_id.empty();
    if (registered) {
        grant.client_id = grant_->client_id;
        grant.client_secret = grant_->client_secret;
        return then(std::move(grant));
    }
    if (at.registration_endpoint.empty())
        return then(std::unexpected("its issuer registers no clients; set client_id"));
    fetches_.send(registration_request(at, redirect_uri),
                  [grant = std::move(grant), then = std::move(then)](
                      std::expected<Fetches::Answer, std::string> const& answer) mutable {
                      if (!answer) return then(std::unexpected(answer.error()));
                      auto const read = read_registration(json::View(answer->body), grant);
                      if (!read) return then(std::unexpected(read.error()));
                      then(std::move(grant));
                  });
}

void SignIn::begin(port::ForeignSignIn request,
                   port::Fn<void(std::expected<std::string, std::string>)> done) {
    auto const reply = std::make_shared<decltype(done)>(std::move(done));
    discover([this, request = std::move(request),
              reply](std::expected<Authorizer, std::string> const& at) {
        if (!at) return (*reply)(std::unexpected(at.error()));
        auto go = [this, at = *at, request, reply](std::expected<Grant, std::string> grant) {
            if (!grant) return (*reply)(std::unexpected(grant.error()));
            std::string const held = grant_ ? grant_->scope : "";
            std::string scope =
                joined_scopes(server_.sign_in->scope, joined_scopes(held, scope_wanted_));
            if (scope.empty()) scope = scope_offered_;
            grant->scope = scope;
            auto url = authorization_url(at, grant->client_id, server_.url, scope, request);
            begun_.push_back({request.state, at, *std::move(grant)});
            if (begun_.size() > begun_max) begun_.pop_front();
            (*reply)(std::move(url));
        };
        with_client(*at, request.redirect_uri, std::move(go));
    });
}

std::optional<SignIn::Begun> SignIn::taken(std::string const& state) {
    auto const at = std::ranges::find(begun_, state, &Begun::state);
    if (at == begun_.end()) return std::nullopt;
    auto out = std::move(*at);
    begun_.erase(at);
    return out;
}

void SignIn::finish(port::ForeignCode const& code,
                    port::Fn<void(std::expected<void, std::string>)> done) {
    auto const begun = taken(code.state);
    if (!begun)
        return done(std::unexpected(
            "the sign-in was begun before a restart, or many were begun since; begin it again"));
    if (is_of_another(code, begun->at))
        return done(std::unexpected("the answer is of another authorization server"));
    auto const reply = std::make_shared<decltype(done)>(std::move(done));
    fetches_.send(code_request(begun->at, begun->grant, server_.url, code.redirect_uri, code.code,
                               code.verifier),
                  [this, grant = begun->grant,
                   reply](std::expected<Fetches::Answer, std::string> const& answer) mutable {
                      if (!answer) return (*reply)(std::unexpected(answer.error()));
                      auto const read = read_tokens(json::View(answer->body), clock_.now(), grant);
                      if (!read) return (*reply)(std::unexpected(read.error()));
                      take(grant);
                      needed_ = false;
                      scope_wanted_.clear();
                      if (changed_) changed_();
                      (*reply)({});
                  });
}

}  // namespace dormouse::mcp_client
