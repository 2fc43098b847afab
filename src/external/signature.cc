#include "external/signature.h"

#include "base/sha256.h"
#include "base/text.h"

namespace dormouse::external {

std::string webhook_signature(std::string_view secret, std::string_view id, std::int64_t seconds,
                              std::string_view body) {
    constexpr std::string_view prefix = "whsec_";
    std::string key(secret);
    if (secret.starts_with(prefix)) {
        if (auto bytes = parse_base64(secret.substr(prefix.size()))) key = std::move(*bytes);
    }
    std::string const signed_text =
        std::string(id) + "." + std::to_string(seconds) + "." + std::string(body);
    return "v1," + base64(hmac_sha256(key, signed_text));
}

}  // namespace dormouse::external
