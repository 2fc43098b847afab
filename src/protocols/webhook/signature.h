#pragma once
// Signatures of webhooks, both ways: Standard Webhooks (symmetric, v1), the plain HMAC of a body,
// and those of GitHub and Slack. Pure.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace dormouse::webhook {

// "v1," and base64 of HMAC-SHA256 over "id.seconds.body". A secret "whsec_…" is base64 behind that;
// any other is taken as its bytes.
[[nodiscard]] std::string standard_signature(std::string_view secret, std::string_view id,
                                             std::int64_t seconds, std::string_view body);
// 64 hex digits of HMAC-SHA256 over the body under the secret's bytes: X-Webhook-Signature.
[[nodiscard]] std::string plain_signature(std::string_view secret, std::string_view body);

enum class Kind : std::uint8_t { standard, hmac, github, slack };

// The value of a header by its name in lower case; empty: it is not there.
using Headers = std::function<std::string_view(std::string_view)>;

// How far a signature's own time may be from now, either way.
inline constexpr Duration tolerance{300'000};
inline constexpr std::size_t delivery_id_max = 256;

// Without these headers no signature of the kind can fit, whatever the body is: what to send.
// Empty: they are there.
[[nodiscard]] std::string missing_headers(Kind kind, Headers const& headers);

// The id of a delivery whose signature is right under one of the secrets: what its sender gave it,
// else one made of its content. Values are compared whole and in constant time; nothing of the body
// is looked at. Errors: bad_signature; stale_signature with {"skewMs": n}, told only of a signature
// that is right.
[[nodiscard]] Result<std::string> verify(Kind kind, std::span<std::string const> secrets,
                                         Headers const& headers, std::string_view body, Time now);

}  // namespace dormouse::webhook
