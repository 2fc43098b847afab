#include "http/access/capability.h"

#include "base/check.h"
#include "base/crypto/sha256.h"
#include "base/text/text.h"

namespace dormouse::http {

namespace {

constexpr std::string_view pending_prefix = "pnd_";
constexpr std::size_t signature_length = 43;  // 32 bytes in base64url

Sha256 signature(std::string const& key, PendingId const& pending) {
    return hmac_sha256(key, "dormouse capability 1 " + pending.text());
}

}  // namespace

std::string Capabilities::token(PendingId const& pending) const {
    CHECK(!key_.empty());
    return std::string(prefix) + pending.text().substr(pending_prefix.size()) + "_" +
           base64url(signature(key_, pending));
}

std::optional<PendingId> Capabilities::check(std::string_view token) const {
    if (key_.empty() || !token.starts_with(prefix)) return std::nullopt;
    token.remove_prefix(prefix.size());
    if (token.size() <= signature_length + 1) return std::nullopt;
    std::size_t const end = token.size() - signature_length;
    auto const pending =
        PendingId::parse(std::string(pending_prefix) + std::string(token.substr(0, end - 1)));
    if (!pending || token[end - 1] != '_') return std::nullopt;
    // Compares digests of the texts, so that the time does not depend on length or content.
    bool const same =
        same_digest(sha256(token.substr(end)), sha256(base64url(signature(key_, *pending))));
    return same ? pending : std::nullopt;
}

}  // namespace dormouse::http
