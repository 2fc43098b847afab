#include "webhook/signature.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"

#include <algorithm>
#include <optional>

namespace dormouse::webhook {

namespace {

constexpr std::size_t signatures_max = 32;  // of one delivery, for rotation of secrets

// Compares digests, so any wrong value takes the same time.
bool same(std::string_view a, std::string_view b) { return same_digest(sha256(a), sha256(b)); }

std::string key_of(std::string_view secret) {
    constexpr std::string_view prefix = "whsec_";
    if (!secret.starts_with(prefix)) return std::string(secret);
    return parse_base64(secret.substr(prefix.size())).value_or(std::string(secret));
}

std::unexpected<Error> bad(std::string why) { return fail(Code::bad_signature, std::move(why)); }

// Compares with every secret, even after a match.
template <class Expected>
bool any_fits(std::span<std::string const> secrets, std::string_view given, Expected expected) {
    bool fits = false;
    for (std::string const& secret : secrets)
        fits |= !secret.empty() && same(expected(secret), given);
    return fits;
}

Result<void> in_time(std::int64_t seconds, Time now) {
    std::int64_t const skew = to_ms(now) - seconds * 1'000;
    if (skew <= tolerance.count() && skew >= -tolerance.count()) return {};
    return fail(Code::stale_signature,
                "The signature is valid, but its time is more than 5 minutes from now.",
                Json::trusted("{\"skewMs\":" + std::to_string(skew) + "}"));
}

// Returns seconds since the epoch that do not overflow as milliseconds.
std::optional<std::int64_t> seconds_of(std::string_view text) {
    auto const number = parse_number(text);
    if (!number || *number > 253'402'300'799) return std::nullopt;
    return static_cast<std::int64_t>(*number);
}

constexpr char const* send_standard =
    "Send webhook-id, webhook-timestamp (seconds) and webhook-signature.";

constexpr char const* send_slack = "Send X-Slack-Request-Timestamp and X-Slack-Signature.";

std::string send_hex(std::string_view header) {
    return "Send " + std::string(header) + ": sha256= and 64 hex digits.";
}

std::string content_id(std::string_view body) { return digest_text(sha256(body)); }

// Accepts the header names of Standard Webhooks and those of Svix.
std::string_view either(Headers const& headers, std::string_view part) {
    std::string_view const value = headers("webhook-" + std::string(part));
    return value.empty() ? headers("svix-" + std::string(part)) : value;
}

Result<std::string> verify_standard(std::span<std::string const> secrets, Headers const& headers,
                                    std::string_view body, Time now) {
    std::string id(either(headers, "id"));
    auto const seconds = seconds_of(either(headers, "timestamp"));
    std::string_view given = either(headers, "signature");
    if (id.empty() || !seconds || given.empty()) return bad(send_standard);
    if (id.size() > delivery_id_max) return bad("A webhook-id must be at most 256 bytes.");
    bool fits = false;
    for (std::size_t n = 0; n < signatures_max && !given.empty(); ++n) {
        std::size_t const end = std::min(given.find(' '), given.size());
        fits |= any_fits(secrets, given.substr(0, end), [&](std::string const& secret) {
            return standard_signature(secret, id, *seconds, body);
        });
        given.remove_prefix(std::min(end + 1, given.size()));
    }
    if (!fits) return bad("No webhook-signature fits the body under a secret of this source.");
    if (auto timely = in_time(*seconds, now); !timely)
        return std::unexpected(std::move(timely.error()));
    return id;
}

Result<std::string> verify_hex(std::span<std::string const> secrets, std::string_view header,
                               bool prefix_required, Headers const& headers,
                               std::string_view body) {
    constexpr std::string_view prefix = "sha256=";
    std::string given = lower_case(headers(header));
    bool const prefixed = given.starts_with(prefix);
    if (given.empty() || (prefix_required && !prefixed)) return bad(send_hex(header));
    if (prefixed) given.erase(0, prefix.size());
    if (!any_fits(secrets, given,
                  [&](std::string const& secret) { return plain_signature(secret, body); }))
        return bad("The " + std::string(header) +
                   " does not fit the body under a secret of this source.");
    return content_id(body);
}

// The id is not signed. It prevents accepting a sender's delivery twice; the content's digest
// prevents others from repeating the content.
Result<std::string> verify_plain(std::span<std::string const> secrets, Headers const& headers,
                                 std::string_view body) {
    auto id = verify_hex(secrets, "x-webhook-signature", false, headers, body);
    std::string_view const given = headers("webhook-id");
    if (given.size() > delivery_id_max) return bad("A webhook-id must be at most 256 bytes.");
    return id && !given.empty() ? std::string(given) : id;
}

Result<std::string> verify_github(std::span<std::string const> secrets, Headers const& headers,
                                  std::string_view body) {
    auto id = verify_hex(secrets, "x-hub-signature-256", true, headers, body);
    std::string_view const given = headers("x-github-delivery");
    if (given.size() > delivery_id_max)
        return bad("An X-GitHub-Delivery must be at most 256 bytes.");
    return id && !given.empty() ? std::string(given) : id;
}

Result<std::string> verify_slack(std::span<std::string const> secrets, Headers const& headers,
                                 std::string_view body, Time now) {
    std::string_view const stamp = headers("x-slack-request-timestamp");
    auto const seconds = seconds_of(stamp);
    std::string const given = lower_case(headers("x-slack-signature"));
    if (!seconds || given.empty()) return bad(send_slack);
    std::string const content = "v0:" + std::string(stamp) + ":" + std::string(body);
    if (!any_fits(secrets, given, [&](std::string const& secret) {
            return "v0=" + plain_signature(secret, content);
        }))
        return bad("The X-Slack-Signature does not fit the body under a secret of this source.");
    if (auto timely = in_time(*seconds, now); !timely)
        return std::unexpected(std::move(timely.error()));
    return content_id(content);
}

}  // namespace

std::string standard_signature(std::string_view secret, std::string_view id, std::int64_t seconds,
                               std::string_view body) {
    std::string const content =
        std::string(id) + "." + std::to_string(seconds) + "." + std::string(body);
    return "v1," + base64(hmac_sha256(key_of(secret), content));
}

std::string plain_signature(std::string_view secret, std::string_view body) {
    return hex(hmac_sha256(secret, body));
}

SignedHeaders sign(Kind kind, std::string_view secret, std::string_view id, std::string_view body,
                   Time now) {
    std::int64_t const seconds = to_ms(now) / 1'000;
    std::string const stamp = std::to_string(seconds);
    switch (kind) {
        case Kind::standard:
            return {{"webhook-id", std::string(id)},
                    {"webhook-timestamp", stamp},
                    {"webhook-signature", standard_signature(secret, id, seconds, body)}};
        case Kind::hmac:
            return {{"X-Webhook-Signature", "sha256=" + plain_signature(secret, body)},
                    {"webhook-id", std::string(id)}};
        case Kind::github:
            return {{"X-Hub-Signature-256", "sha256=" + plain_signature(secret, body)},
                    {"X-GitHub-Delivery", std::string(id)}};
        case Kind::slack:
            return {{"X-Slack-Request-Timestamp", stamp},
                    {"X-Slack-Signature",
                     "v0=" + plain_signature(secret, "v0:" + stamp + ":" + std::string(body))}};
    }
    return {};
}

std::string missing_headers(Kind kind, Headers const& headers) {
    auto const hex_of = [&](std::string_view header, std::string_view prefix) {
        bool const there =
            !headers(header).empty() && lower_case(headers(header)).starts_with(prefix);
        return there ? std::string() : send_hex(header);
    };
    switch (kind) {
        case Kind::standard: {
            bool const there = !either(headers, "id").empty() &&
                               seconds_of(either(headers, "timestamp")) &&
                               !either(headers, "signature").empty();
            return there ? "" : send_standard;
        }
        case Kind::hmac: return hex_of("x-webhook-signature", "");
        case Kind::github: return hex_of("x-hub-signature-256", "sha256=");
        case Kind::slack: {
            bool const there = seconds_of(headers("x-slack-request-timestamp")) &&
                               !headers("x-slack-signature").empty();
            return there ? "" : send_slack;
        }
    }
    return "The kind of signature is unknown.";
}

Result<std::string> verify(Kind kind, std::span<std::string const> secrets, Headers const& headers,
                           std::string_view body, Time now) {
    switch (kind) {
        case Kind::standard: return verify_standard(secrets, headers, body, now);
        case Kind::hmac: return verify_plain(secrets, headers, body);
        case Kind::github: return verify_github(secrets, headers, body);
        case Kind::slack: return verify_slack(secrets, headers, body, now);
    }
    return bad("The kind of signature is unknown.");
}

}  // namespace dormouse::webhook
