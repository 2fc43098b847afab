#pragma once
// Creates and verifies signatures of webhooks: Standard Webhooks (symmetric, v1), plain HMAC of a
// body, GitHub and Slack. Pure.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::webhook {

// Returns "v1," and base64 of HMAC-SHA256 over "id.seconds.body". A secret "whsec_…" is decoded
// from base64; any other is used as it is.
[[nodiscard]] std::string standard_signature(std::string_view secret, std::string_view id,
                                             std::int64_t seconds, std::string_view body);
// Returns X-Webhook-Signature: 64 hex digits of HMAC-SHA256 over the body with the secret's bytes.
[[nodiscard]] std::string plain_signature(std::string_view secret, std::string_view body);

enum class Kind : std::uint8_t { standard, hmac, github, slack };

// Returns the headers with which verify() accepts `body` under this secret. `id` is the delivery's;
// Slack sends none.
using SignedHeaders = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] SignedHeaders sign(Kind kind, std::string_view secret, std::string_view id,
                                 std::string_view body, Time now);

// Returns the value of a header by its name in lower case; empty: it is missing.
using Headers = std::function<std::string_view(std::string_view)>;

// Maximum difference between a signature's time and now, in both directions.
inline constexpr Duration tolerance{300'000};
inline constexpr std::size_t delivery_id_max = 256;

// Returns which headers the sender must add, because without them no signature of this kind can be
// valid; empty: all are present.
[[nodiscard]] std::string missing_headers(Kind kind, Headers const& headers);

// Returns the id of a delivery that is signed correctly with one of the secrets: the sender's id,
// else a digest of the content. Compares whole values in constant time and does not parse the body.
// Errors: bad_signature; stale_signature with {"skewMs": n}, only for a valid signature.
[[nodiscard]] Result<std::string> verify(Kind kind, std::span<std::string const> secrets,
                                         Headers const& headers, std::string_view body, Time now);

}  // namespace dormouse::webhook
