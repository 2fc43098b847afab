#include "oidc/keys.h"

#include "base/text/base64url.h"
#include "base/text/text.h"

#include <algorithm>

namespace dormouse::oidc {

namespace {

std::optional<std::string> number(json::View key, std::string_view name) {
    auto const text = key[name].string();
    return text ? parse_base64url(*text) : std::nullopt;
}

std::optional<PublicKey> rsa_key(json::View key) {
    auto const n = number(key, "n");
    auto const e = number(key, "e");
    return n && e ? PublicKey::rsa(*n, *e) : std::nullopt;
}

std::optional<PublicKey> p256_key(json::View key) {
    auto const x = number(key, "x");
    auto const y = number(key, "y");
    bool const curve = key["crv"].string_or("") == "P-256";
    return curve && x && y ? PublicKey::p256(*x, *y) : std::nullopt;
}

// nullopt: a key for something else, or one that cannot be used.
std::optional<Key> read_key(json::View key) {
    std::string const type = key["kty"].string_or("");
    if (type != "RSA" && type != "EC") return std::nullopt;
    Algorithm const algorithm = type == "RSA" ? Algorithm::rs256 : Algorithm::es256;
    std::string_view const name = algorithm == Algorithm::rs256 ? "RS256" : "ES256";
    bool const signs = key["use"].string_or("sig") == "sig" && key["alg"].string_or(name) == name;
    if (!signs) return std::nullopt;
    auto read = algorithm == Algorithm::rs256 ? rsa_key(key) : p256_key(key);
    if (!read) return std::nullopt;
    return Key{key["kid"].string_or(""), algorithm, *std::move(read)};
}

}  // namespace

std::expected<Keys, std::string> parse_keys(std::string_view text) {
    auto const json = json::check(text);
    if (!json) return std::unexpected("is not JSON: " + json.error().detail);
    json::View const list = json::View(*json)["keys"];
    if (list.kind() != json::Kind::array) return std::unexpected("has no list \"keys\"");
    if (list.size() > keys_max)
        return std::unexpected("must have at most " + std::to_string(keys_max) + " keys");
    Keys out;
    list.elements([&out](json::View one) {
        if (auto key = read_key(one)) out.push_back(*std::move(key));
    });
    return out;
}

}  // namespace dormouse::oidc
