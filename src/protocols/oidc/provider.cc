#include "oidc/provider.h"

#include "oidc/fetch.h"

#include "base/text/chars.h"
#include "base/text/text.h"
#include "base/url.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::oidc {

namespace {

constexpr Duration kept{3'600'000};
constexpr Duration keys_again{60'000};
constexpr std::size_t document_bytes_max = std::size_t{256} << 10;
constexpr std::size_t answer_bytes_max = std::size_t{256} << 10;  // with access and ID token

std::unexpected<Failure> failed(Failure::Kind kind, std::string why) {
    return std::unexpected(Failure{kind, std::move(why)});
}

// Reads a document that must be there: status 200. `parse` says what is wrong with its text.
template <class Parse>
auto read_document(std::string const& name, std::expected<Fetched, std::string> const& got,
                   Parse parse) -> decltype(parse(std::string_view())) {
    if (!got) return std::unexpected(name + " cannot be fetched: " + got.error());
    if (got->status != 200)
        return std::unexpected(name + " was answered with status " + std::to_string(got->status));
    auto out = parse(std::string_view(got->body));
    if (!out) return std::unexpected(name + " " + out.error());
    return out;
}

void add(std::string& form, std::string_view name, std::string_view value) {
    form += (form.empty() ? "" : "&") + std::string(name) + "=" + percent_encode(value);
}

std::string scopes_text(std::vector<std::string> const& scopes) {
    std::string out;
    for (std::string const& scope : scopes) out += (out.empty() ? "" : " ") + scope;
    return out;
}

// The error code of the token endpoint; a text of another form is not shown.
std::string error_code(std::string_view body) {
    auto const json = json::check(body);
    std::string const code = json ? json::View(*json)["error"].string_or("") : "";
    bool const plain = code.size() <= 64 && std::ranges::all_of(code, [](char c) {
                           return is_lower_letter(c) || c == '_';
                       });
    return plain ? code : "";
}

// Reads the ID token of an answer of the token endpoint.
Answer<std::string> read_tokens(std::expected<Fetched, std::string> const& got) {
    using Kind = Failure::Kind;
    if (!got) return failed(Kind::unreachable, "the code was not exchanged: " + got.error());
    std::string const status = "status " + std::to_string(got->status);
    if (got->status != 200) {
        std::string const code = error_code(got->body);
        if (code.empty()) return failed(Kind::unreachable, "the code was answered with " + status);
        return failed(code == "invalid_grant" ? Kind::code : Kind::settings,
                      "the code was answered with " + status + ", " + code);
    }
    auto const json = json::check(got->body);
    auto token = json ? json::View(*json)["id_token"].string() : std::nullopt;
    if (!token) return failed(Kind::token, "the answer has no id_token");
    return *std::move(token);
}

}  // namespace

void Provider::with_metadata(port::Fn<void(Answer<MetadataPtr>)> done) {
    if (auto const known = metadata_.fresh(clock_.monotonic(), kept)) return done(known);
    auto answer = [done = std::move(done)](Cached<Metadata>::Answer got) mutable {
        if (!got) return done(failed(Failure::Kind::unreachable, got.error()));
        done(*std::move(got));
    };
    if (!metadata_.wait(std::move(answer))) return;
    fetch(client_, {.url = discovery_url(settings_.issuer)}, document_bytes_max,
          scope_.guard([this](std::expected<Fetched, std::string> const& got) {
              auto const parse = [this](std::string_view text) {
                  return parse_metadata(text, settings_.issuer);
              };
              metadata_.put(clock_.monotonic(),
                            read_document("the discovery document", got, parse));
          }));
}

void Provider::with_keys(MetadataPtr const& metadata, Duration age, Cached<Keys>::Done done) {
    if (auto const known = keys_.fresh(clock_.monotonic(), age)) return done(known);
    if (!keys_.wait(std::move(done))) return;
    fetch(client_, {.url = metadata->jwks_uri}, document_bytes_max,
          scope_.guard([this](std::expected<Fetched, std::string> const& got) {
              keys_.put(clock_.monotonic(), read_document("the list of keys", got, parse_keys));
          }));
}

void Provider::begin(Flow const& flow, std::string const& redirect_uri,
                     port::Fn<void(Answer<std::string>)> done) {
    std::string query;
    add(query, "response_type", "code");
    add(query, "client_id", settings_.client_id);
    add(query, "redirect_uri", redirect_uri);
    add(query, "scope", scopes_text(settings_.scopes));
    add(query, "state", flow.state);
    add(query, "nonce", flow.nonce);
    add(query, "code_challenge", flow.challenge);
    add(query, "code_challenge_method", "S256");
    with_metadata([query, done = std::move(done)](Answer<MetadataPtr> const& metadata) mutable {
        if (!metadata) return done(std::unexpected(metadata.error()));
        std::string const& url = (*metadata)->authorization_endpoint;
        done(url + (url.contains('?') ? "&" : "?") + query);
    });
}

void Provider::finish(Flow const& flow, Redirect redirect, Done done) {
    with_metadata(scope_.guard([this, flow, redirect = std::move(redirect),
                                done = std::move(done)](Answer<MetadataPtr> metadata) mutable {
        if (!metadata) return done(std::unexpected(metadata.error()));
        // An answer of another provider, which a third party mixed in (RFC 9207).
        bool const missing = redirect.issuer.empty() && (*metadata)->names_itself;
        bool const foreign = !redirect.issuer.empty() && redirect.issuer != settings_.issuer;
        if (missing || foreign)
            return done(failed(Failure::Kind::token, "the answer is of another issuer (iss)"));
        exchange(*metadata, flow, redirect, std::move(done));
    }));
}

port::HttpRequest Provider::token_request(Metadata const& metadata, Flow const& flow,
                                          Redirect const& redirect) const {
    port::HttpRequest out{.method = "POST", .url = metadata.token_endpoint};
    out.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    add(out.body, "grant_type", "authorization_code");
    add(out.body, "code", redirect.code);
    add(out.body, "redirect_uri", redirect.redirect_uri);
    add(out.body, "code_verifier", flow.verifier);
    bool const in_header = !settings_.client_secret.empty() && !metadata.secret_in_body;
    if (!in_header) add(out.body, "client_id", settings_.client_id);
    if (!in_header && !settings_.client_secret.empty())
        add(out.body, "client_secret", settings_.client_secret);
    // A code works once: sent again it would revoke what it gave.
    out.send_once = true;
    if (!in_header) return out;
    std::string const pair =
        percent_encode(settings_.client_id) + ":" + percent_encode(settings_.client_secret);
    out.headers.push_back(
        {"Authorization",
         "Basic " + base64({reinterpret_cast<std::uint8_t const*>(pair.data()), pair.size()})});
    return out;
}

void Provider::exchange(MetadataPtr const& metadata, Flow const& flow, Redirect const& redirect,
                        Done done) {
    fetch(client_, token_request(*metadata, flow, redirect), answer_bytes_max,
          scope_.guard([this, metadata, nonce = flow.nonce, done = std::move(done)](
                           std::expected<Fetched, std::string> const& got) mutable {
              auto token = read_tokens(got);
              if (!token) return done(std::unexpected(token.error()));
              verify(metadata, *std::move(token), std::move(nonce), kept, std::move(done));
          }));
}

// `age`: keys that are older are fetched again.
void Provider::verify(MetadataPtr const& metadata, std::string token, std::string nonce,
                      Duration age, Done done) {
    auto with = [this, metadata, token = std::move(token), nonce = std::move(nonce), age,
                 done = std::move(done)](Cached<Keys>::Answer const& keys) mutable {
        if (!keys) return done(failed(Failure::Kind::unreachable, keys.error()));
        Expected const expected{settings_.issuer, settings_.client_id, nonce, clock_.now()};
        auto claims = verify_id_token(token, **keys, expected);
        if (claims) return done(*std::move(claims));
        bool const again = claims.error().unknown_key && age == kept &&
                           !keys_.fresh(clock_.monotonic(), keys_again);
        if (again)
            return verify(metadata, std::move(token), std::move(nonce), keys_again,
                          std::move(done));
        done(failed(Failure::Kind::token, claims.error().why));
    };
    with_keys(metadata, age, scope_.guard(std::move(with)));
}

}  // namespace dormouse::oidc
