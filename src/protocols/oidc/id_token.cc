#include "oidc/id_token.h"

#include "base/crypto/sha256.h"
#include "base/text/base64url.h"
#include "base/text/text.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace dormouse::oidc {

namespace {

constexpr std::size_t subject_bytes_max = 255;  // OpenID Connect Core 1.0, 2

std::unexpected<Refusal> refused(std::string why) {
    return std::unexpected(Refusal{false, std::move(why)});
}

struct Parts {
    Json header;
    Json claims;
    std::string_view signed_text;
    std::string signature;
};

std::optional<Json> json_part(std::string_view text) {
    auto const bytes = parse_base64url(text);
    if (!bytes) return std::nullopt;
    auto json = json::check(*bytes);
    if (!json || json::View(*json).kind() != json::Kind::object) return std::nullopt;
    return *std::move(json);
}

std::optional<Parts> split(std::string_view token) {
    auto const first = token.find('.');
    auto const last = token.rfind('.');
    if (first == std::string_view::npos || first == last) return std::nullopt;
    if (token.find('.', first + 1) != last) return std::nullopt;
    auto header = json_part(token.substr(0, first));
    auto claims = json_part(token.substr(first + 1, last - first - 1));
    auto signature = parse_base64url(token.substr(last + 1));
    if (!header || !claims || !signature || signature->empty()) return std::nullopt;
    return Parts{*std::move(header), *std::move(claims), token.substr(0, last),
                 *std::move(signature)};
}

std::expected<Algorithm, Refusal> algorithm_of(json::View header) {
    // A header that must be understood: none is here.
    if (header["crit"].exists()) return refused("its header has \"crit\", which is not supported");
    std::string const name = header["alg"].string_or("");
    if (name == "RS256") return Algorithm::rs256;
    if (name == "ES256") return Algorithm::es256;
    return refused("its algorithm is \"" + escape_for_terminal(name.substr(0, 20)) +
                   "\"; let the provider sign with RS256 or ES256");
}

// Without a `kid` the key must be the only one of its algorithm.
std::expected<Key const*, Refusal> key_of(json::View header, Algorithm algorithm,
                                          Keys const& keys) {
    auto const id = header["kid"].string();
    std::vector<Key const*> fit;
    for (Key const& key : keys) {
        if (key.algorithm == algorithm && (!id || key.id == *id)) fit.push_back(&key);
    }
    if (fit.size() == 1) return fit.front();
    if (!fit.empty()) return refused("several keys of the provider fit it");
    return std::unexpected(
        Refusal{true, "it is signed with a key that the provider does not publish"});
}

bool names(json::View audience, std::string_view client) {
    if (auto const one = audience.string()) return *one == client;
    bool found = false;
    audience.elements([&](json::View one) { found |= one.string() == client; });
    return found;
}

std::string wrong_audience(json::View claims, std::string const& client) {
    json::View const audience = claims["aud"];
    if (!names(audience, client)) return "it is for another client (aud)";
    json::View const party = claims["azp"];
    bool const several = audience.kind() == json::Kind::array && audience.size() > 1;
    if (several && !party.exists()) return "it is for several clients and has no azp";
    if (party.exists() && party.string() != client) return "it was made for another client (azp)";
    return {};
}

// Seconds since 1970, maybe with a fraction. nullopt: absent, or no such number.
std::optional<Time> time_of(json::View value) {
    constexpr double most = 253'402'300'800;  // the year 10000
    auto const seconds = value.number();
    if (!seconds || *seconds < 0 || *seconds > most) return std::nullopt;
    return from_ms(static_cast<std::int64_t>(std::floor(*seconds * 1'000)));
}

std::string wrong_time(json::View claims, Time now) {
    auto const expires = time_of(claims["exp"]);
    auto const issued = time_of(claims["iat"]);
    if (!expires) return "it has no expiry (exp)";
    if (!issued) return "it has no time of issue (iat)";
    if (now >= *expires + clock_leeway) return "it has expired (exp); compare the clocks";
    if (*issued > now + clock_leeway) return "it is from the future (iat); compare the clocks";
    if (!claims["nbf"].exists()) return {};
    auto const begins = time_of(claims["nbf"]);
    if (!begins || *begins > now + clock_leeway)
        return "it is not valid yet (nbf); compare the clocks";
    return {};
}

std::string wrong_claims(json::View claims, Expected const& expected) {
    if (claims["iss"].string() != expected.issuer) return "it is of another issuer (iss)";
    if (auto why = wrong_audience(claims, expected.client_id); !why.empty()) return why;
    if (auto why = wrong_time(claims, expected.now); !why.empty()) return why;
    auto const nonce = claims["nonce"].string();
    if (!nonce || expected.nonce.empty() || !same_digest(sha256(*nonce), sha256(expected.nonce)))
        return "it is for another sign-in (nonce)";
    auto const subject = claims["sub"].string();
    if (!subject || subject->empty() || subject->size() > subject_bytes_max)
        return "its subject (sub) must have 1 to 255 bytes";
    return {};
}

}  // namespace

std::expected<Claims, Refusal> verify_id_token(std::string_view token, Keys const& keys,
                                               Expected const& expected) {
    if (token.size() > id_token_bytes_max)
        return refused("it must be at most " + std::to_string(id_token_bytes_max) + " bytes");
    auto const parts = split(token);
    if (!parts) return refused("it is not a signed JSON Web Token");
    json::View const header(parts->header);
    auto const algorithm = algorithm_of(header);
    if (!algorithm) return std::unexpected(algorithm.error());
    auto const key = key_of(header, *algorithm, keys);
    if (!key) return std::unexpected(key.error());
    if (!(*key)->key.verify(parts->signed_text, parts->signature))
        return refused("its signature is wrong");
    json::View const claims(parts->claims);
    if (auto why = wrong_claims(claims, expected); !why.empty()) return refused(std::move(why));
    return Claims{*claims["sub"].string(), parts->claims};
}

}  // namespace dormouse::oidc
