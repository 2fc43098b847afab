#pragma once
// Signatures of Standard Webhooks (symmetric, v1).

#include <dormouse/time.h>

#include <string>
#include <string_view>

namespace dormouse::external {

// "v1," and base64 of HMAC-SHA256 over "id.seconds.body". A secret "whsec_…" is base64 behind that;
// any other is taken as its bytes.
[[nodiscard]] std::string webhook_signature(std::string_view secret, std::string_view id,
                                            std::int64_t seconds, std::string_view body);

}  // namespace dormouse::external
