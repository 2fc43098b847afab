#include "mcp_client/sign_in/sign_in.h"

#include "base/check.h"
#include "base/crypto/sha256.h"
#include "base/text/text.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace dormouse::mcp_client {
namespace {

constexpr Duration early{30'000};  // before its end a token is not used any more
// A process claims the renewal of a token for this time; its requests to the issuer take less.
constexpr Duration claim_life{60'000};
constexpr Duration claim_poll{500};  // between two reads of the records while another one renews
constexpr unsigned tries_max = 150;
constexpr unsigned stores_max = 3;  // of a new grant

// The record of the client that was registered.
std::string client_record(std::string const& server) { return "client:" + server; }

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

SignIn::SignIn(ServerSettings const& server, port::HttpClient& client, port::Loop& loop,
               port::Clock const& clock, SignInServices services, std::function<void()> changed)
    : server_(server),
      loop_(loop),
      clock_(clock),
      services_(std::move(services)),
      changed_(std::move(changed)),
      fetches_(client) {
    CHECK(server_.sign_in.has_value());
    CHECK(services_.records != nullptr);
    read_stored();
}

// A grant is valid for the address, the issuer and the client that it was given for: after a change
// of the configuration a person signs in again. Grants of older releases have no address.
void SignIn::read_stored() {
    auto const stored = services_.records->load(server_.name);
    auto grant = stored ? read_grant(json::View(*stored)) : std::nullopt;
    if (!grant || grant->resource != server_.url) return;
    OAuthClient const& configured = *server_.sign_in;
    if (!configured.issuer.empty() && grant->issuer != configured.issuer) return;
    if (grant->redirect_uri.empty()) {
        if (grant->client_id != configured.id) return;
        grant->client_secret = configured.secret;
    }
    if (!refused_.empty() && grant->access_token == refused_) grant->access_token.clear();
    grant_ = std::move(grant);
}

void SignIn::on_changed() {
    if (renewing_) return;  // it reads them
    read_stored();
    if (!needed_ || token().empty()) return;
    needed_ = false;
    scope_wanted_.clear();
    if (changed_) changed_();
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

// Some servers name the address of their metadata in challenges only. So if the stored token has
// ended, the first request after a restart is sent without a token, and the server challenges it.
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
    if (std::exchange(renewing_, true)) return;
    refused_ = refused;
    tries_ = 0;
    services_.records->refresh(scope_.guard([this] { renew_stored(); }));
}

// Another process may have renewed the token, or is about to; or a person has signed in there.
void SignIn::renew_stored() {
    if (grant_ && grant_->access_token == refused_) grant_->access_token.clear();
    read_stored();
    if (!token().empty()) return renewed("");
    if (!grant_ || grant_->refresh_token.empty()) return renewed(need());
    if (grant_->claimed && clock_.now() < *grant_->claimed) return renew_later();
    discover([this](std::expected<Authorizer, std::string> const& at) {
        if (!at) return renewed(at.error());
        if (!grant_ || at->issuer != grant_->issuer) return renewed(need());
        services_.records->shared() ? claim(*at) : refresh(*at);
    });
}

void SignIn::renew_later() {
    if (++tries_ > tries_max) return renewed("its token was not renewed in time by another server");
    loop_.after(claim_poll, scope_.guard([this] {
        services_.records->refresh(scope_.guard([this] { renew_stored(); }));
    }));
}

// A refresh token works once: one process alone uses it. If that one is lost, the claim ends.
void SignIn::claim(Authorizer const& at) {
    Grant claimed = *grant_;
    claimed.claimed = clock_.now() + claim_life;
    services_.records->store(server_.name, written(claimed), scope_.guard([this, at](bool stored) {
        stored ? refresh(at) : renew_later();
    }));
}

void SignIn::refresh(Authorizer const& at) {
    fetches_.send(
        refresh_request(at, *grant_, server_.url),
        [this, used = *grant_](std::expected<Fetches::Answer, std::string> const& answer) {
            refreshed(used, answer);
        });
}

// The server may replace the refresh token: the new one is stored before the access token is used.
// If a person has signed in meanwhile, that grant counts.
void SignIn::refreshed(Grant grant, std::expected<Fetches::Answer, std::string> const& answer) {
    if (!grant_ || grant_->refresh_token != grant.refresh_token) return renewed("");
    if (!answer)
        return keep(std::move(grant),
                    [this, why = answer.error()] { renewed("its issuer gave no token: " + why); });
    json::View const view(answer->body);
    if (is_over(view)) {
        grant.refresh_token.clear();
        return keep(std::move(grant), [this] { renewed(need()); });
    }
    auto const read = read_tokens(view, clock_.now(), grant);
    std::string const why = read ? "" : read.error();
    keep(std::move(grant), [this, why] { renewed(why); });
}

// Ends the claim, too. A connection of the former configuration ends its calls while somebody has
// signed in at the new address: that grant stays.
void SignIn::keep(Grant grant, std::function<void()> then) {
    grant.claimed.reset();
    auto const record = services_.records->load(server_.name);
    auto const stored = record ? read_grant(json::View(*record)) : std::nullopt;
    bool const other = stored && stored->resource != grant.resource;
    bool const same = record && *record == written(grant);
    if (other || same) {
        grant_ = std::move(grant);
        return then();
    }
    Json const next = written(grant);
    auto kept = [this, grant = std::move(grant), then = std::move(then)](bool done) {
        if (done)
            grant_ = grant;
        else
            read_stored();
        then();
    };
    services_.records->store(server_.name, next, scope_.guard(std::move(kept)));
}

void SignIn::renewed(std::string const& why) {
    renewing_ = false;
    for (Done const& done : std::exchange(waiting_, {})) done(why);
}

// A person can allow more than the token has (RFC 6750, insufficient_scope).
std::string SignIn::lacks(std::string const& challenge) {
    auto const read = read_challenge(challenge);
    if (read.error != "insufficient_scope" || read.scope.empty()) return {};
    scope_wanted_ = joined_scopes(scope_wanted_, read.scope);
    return "it needs more rights (" + read.scope + "); " + need();
}

// Reads the records first: another process may have registered the client.
void SignIn::discover_for_person(Found found) {
    services_.records->refresh(scope_.guard([this, found = std::move(found)] { discover(found); }));
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
void SignIn::with_client(Authorizer const& at, std::string const& redirect_uri, Client then) {
    Grant grant{.resource = server_.url,
                .issuer = at.issuer,
                .client_id = server_.sign_in->id,
                .client_secret = server_.sign_in->secret};
    if (!grant.client_id.empty()) return then(std::move(grant));
    grant.redirect_uri = redirect_uri;
    if (find_client(grant)) return then(std::move(grant));
    if (at.registration_endpoint.empty())
        return then(std::unexpected("its issuer registers no clients; set client_id"));
    register_client(at, std::move(grant), std::move(then));
}

// Records of older releases have the client in the grant alone.
bool SignIn::find_client(Grant& grant) const {
    for (std::string const& name : {client_record(server_.name), server_.name}) {
        auto const record = services_.records->load(name);
        auto const stored = record ? read_grant(json::View(*record)) : std::nullopt;
        bool const fits =
            stored && stored->issuer == grant.issuer && stored->redirect_uri == grant.redirect_uri;
        if (!fits) continue;
        grant.client_id = stored->client_id;
        grant.client_secret = stored->client_secret;
        return true;
    }
    return false;
}

// One registration for all who sign in meanwhile, also at other processes: the first that is stored
// is used.
void SignIn::register_client(Authorizer const& at, Grant grant, Client then) {
    registering_.push_back(std::move(then));
    if (registering_.size() > 1) return;
    auto request = registration_request(at, grant.redirect_uri);
    auto answered = [this, grant = std::move(grant)](
                        std::expected<Fetches::Answer, std::string> const& answer) mutable {
        if (!answer) return registered(std::unexpected(answer.error()));
        auto const read = read_registration(json::View(answer->body), grant);
        if (!read) return registered(std::unexpected(read.error()));
        services_.records->store(client_record(server_.name), written(grant),
                                 scope_.guard([this, grant](bool stored) mutable {
                                     bool const known = stored || find_client(grant);
                                     if (known) return registered(grant);
                                     registered(std::unexpected("its client could not be stored"));
                                 }));
    };
    fetches_.send(std::move(request), std::move(answered));
}

void SignIn::registered(std::expected<Grant, std::string> const& grant) {
    for (Client const& then : std::exchange(registering_, {})) then(grant);
}

std::string SignIn::scope_to_ask() const {
    std::string const held = grant_ ? grant_->scope : "";
    std::string const scope =
        joined_scopes(server_.sign_in->scope, joined_scopes(held, scope_wanted_));
    return scope.empty() ? scope_offered_ : scope;
}

void SignIn::begin(port::ForeignSignIn request,
                   port::Fn<void(std::expected<std::string, std::string>)> done) {
    struct Begun {
        port::ForeignSignIn request;
        decltype(done) reply;
    };
    auto const begun = std::make_shared<Begun>(std::move(request), std::move(done));
    discover_for_person([this, begun](std::expected<Authorizer, std::string> const& at) {
        if (!at) return begun->reply(std::unexpected(at.error()));
        auto go = [this, at = *at, begun](std::expected<Grant, std::string> const& grant) {
            if (!grant) return begun->reply(std::unexpected(grant.error()));
            begun->reply(authorization_url(at, grant->client_id, server_.url, scope_to_ask(),
                                           begun->request.redirect_uri,
                                           begun->request.challenge(at.issuer)));
        };
        with_client(*at, begun->request.redirect_uri, std::move(go));
    });
}

// The issuer is that of the beginning: a server that names another one meanwhile does not get a
// code of the first (RFC 9700, 4.4).
void SignIn::finish(port::ForeignCode code, port::Fn<void(std::expected<void, std::string>)> done) {
    auto const reply = std::make_shared<decltype(done)>(std::move(done));
    auto answer = [reply](std::expected<void, std::string> result) { (*reply)(std::move(result)); };
    discover_for_person([this, code = std::move(code), answer = std::move(answer)](
                            std::expected<Authorizer, std::string> const& at) {
        if (!at) return answer(std::unexpected(at.error()));
        if (hex(sha256(at->issuer)) != code.begun_at || is_of_another(code, *at))
            return answer(std::unexpected("the answer is of another authorization server"));
        with_client(*at, code.redirect_uri,
                    [this, at = *at, code, answer](std::expected<Grant, std::string> grant) {
                        if (!grant) return answer(std::unexpected(std::move(grant.error())));
                        grant->scope = scope_to_ask();
                        exchange_code(at, *std::move(grant), code, answer);
                    });
    });
}

void SignIn::exchange_code(Authorizer const& at, Grant grant, port::ForeignCode const& code,
                           Finished done) {
    auto request =
        code_request(at, grant, server_.url, code.redirect_uri, code.code, code.verifier);
    fetches_.send(std::move(request),
                  [this, grant = std::move(grant), done = std::move(done)](
                      std::expected<Fetches::Answer, std::string> const& answer) mutable {
                      if (!answer) return done(std::unexpected(answer.error()));
                      auto const read = read_tokens(json::View(answer->body), clock_.now(), grant);
                      if (!read) return done(std::unexpected(read.error()));
                      signed_in(grant, done, stores_max);
                  });
}

// If two people sign in at two processes at once, the grant that is stored first counts. A grant
// that has ended is replaced.
void SignIn::signed_in(Grant const& grant, Finished const& done, unsigned tries) {
    auto stored = [this, grant, done, tries](bool is_stored) {
        refused_.clear();
        if (is_stored)
            grant_ = grant;
        else
            read_stored();
        if (token().empty() && tries > 1) return signed_in(grant, done, tries - 1);
        if (token().empty()) return done(std::unexpected("the sign-in could not be stored"));
        needed_ = false;
        scope_wanted_.clear();
        if (changed_) changed_();
        done({});
    };
    services_.records->store(server_.name, written(grant), scope_.guard(std::move(stored)));
}

}  // namespace dormouse::mcp_client
