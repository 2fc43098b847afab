#include "webhook/kinds/web_push.h"

#include "base/crypto/aes_gcm.h"
#include "base/text/base64url.h"
#include "base/text/cut.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <vector>

namespace dormouse::webhook {

namespace web_push {
namespace {

constexpr std::size_t salt_bytes = 16;
constexpr std::size_t auth_bytes = 16;
constexpr std::size_t question_bytes = 600;
constexpr std::size_t topic_chars = 32;  // RFC 8030, section 5.4
constexpr std::int64_t hour = 3'600'000;
constexpr Duration token_life{12 * hour};  // RFC 8292 allows 24 hours
constexpr Duration token_reuse{hour};
constexpr Duration ttl_min{60'000};
constexpr Duration ttl_max{28 * 24 * hour};  // no known service keeps a message longer
constexpr Duration ttl_without_deadline{7 * 24 * hour};
constexpr Duration ttl_of_outcome{24 * hour};
constexpr Duration ttl_of_test{5 * 60'000};

template <class Bytes> std::string text_of(Bytes const& bytes) {
    return {bytes.begin(), bytes.end()};
}

std::string encoded(std::string_view text) {
    return base64url(std::vector<std::uint8_t>(text.begin(), text.end()));
}

template <std::size_t size> std::array<std::uint8_t, size> first(Sha256 const& from) {
    std::array<std::uint8_t, size> out{};
    std::copy_n(from.begin(), size, out.begin());
    return out;
}

// HKDF (RFC 5869) for at most 32 bytes.
Sha256 hkdf(std::string_view salt, std::string_view material, std::string info) {
    info += '\x01';
    return hmac_sha256(text_of(hmac_sha256(salt, material)), info);
}

std::string with_zero(std::string_view text) { return std::string(text) + '\0'; }

// Without the port that is the scheme's own (RFC 6454).
std::string origin_of(std::string_view endpoint) {
    auto url = parse_url(endpoint).value_or(Url{});
    if (url.port == (url.secure ? 443 : 80)) url.port.reset();
    return url.origin();
}

Duration ttl_of(Notification const& it, Time now) {
    if (!it.outcome.empty()) return ttl_of_outcome;
    if (!it.deadline) return ttl_without_deadline;
    return std::clamp(Duration(*it.deadline - now), ttl_min, ttl_max);
}

}  // namespace
}  // namespace web_push

std::optional<PushSender> push_sender(P256Secret const& secret, std::string contact) {
    auto const key = p256_public(secret);
    if (!key) return std::nullopt;
    return PushSender{secret, *key, std::move(contact)};
}

std::optional<PushDevice> push_device(port::DeviceRow const& row) {
    auto const bytes = parse_base64url(row.p256dh);
    auto const key = bytes ? parse_p256_point(*bytes) : std::nullopt;
    auto const auth = parse_base64url(row.auth);
    if (!key || !auth || auth->size() != web_push::auth_bytes) return std::nullopt;
    return PushDevice{row.endpoint, *key, *auth};
}

// Arguments are left out: a locked screen shows the text.
PushMessage push_message(Notification const& it, Time now) {
    json::Writer out;
    out.begin_object().member("type", "call").member("pendingID", it.pending);
    out.member("headline", headline(it)).member("settled", !it.outcome.empty());
    out.member("question", cut_with_mark(it.question, web_push::question_bytes))
        .member("tool", it.tool);
    out.member("agentID", it.agent);
    out.member("deadline", it.deadline ? std::optional(to_ms(*it.deadline)) : std::nullopt);
    out.member("open", "/?open=" + it.pending).end_object();
    std::string const topic = base64url(sha256(it.pending)).substr(0, web_push::topic_chars);
    return {out.take(), topic, it.outcome.empty() ? "high" : "normal", web_push::ttl_of(it, now)};
}

PushMessage push_test_message(std::string const& device) {
    json::Writer out;
    out.begin_object().member("type", "test").member("open", "/you").end_object();
    std::string const topic = base64url(sha256(device)).substr(0, web_push::topic_chars);
    return {out.take(), topic, "high", web_push::ttl_of_test};
}

Result<std::string> push_body(PushDevice const& to, std::string_view text,
                              PushRandom const& random) {
    using namespace web_push;
    if (text.size() > push_text_max)
        return fail(Code::too_large,
                    "a message must be at most " + std::to_string(push_text_max) + " bytes");
    auto const own = p256_public(random.secret);
    if (!own) return fail(Code::internal, "the secret of a message is no private key");
    std::string const salt = text_of(random.salt).substr(0, salt_bytes);
    std::string const shared = text_of(p256_agree(random.secret, to.key));
    Sha256 const material =
        hkdf(to.auth, shared, with_zero("WebPush: info") + text_of(to.key) + text_of(*own));
    std::string const key = text_of(material);
    Sha256 const cipher = hkdf(salt, key, with_zero("Content-Encoding: aes128gcm"));
    Sha256 const nonce = hkdf(salt, key, with_zero("Content-Encoding: nonce"));
    // One record: its size, then the length of the key, as RFC 8188 writes them.
    std::string const header = salt + std::string("\0\0\x10\0\x41", 5) + text_of(*own);
    return header + aes128_gcm(first<16>(cipher), first<12>(nonce), std::string(text) + '\x02');
}

std::string vapid(PushSender const& sender, std::string_view endpoint, Time now) {
    json::Writer claims;
    claims.begin_object().member("aud", web_push::origin_of(endpoint));
    claims.member("exp", to_ms(now + web_push::token_life) / 1'000);
    if (!sender.contact.empty()) claims.member("sub", sender.contact);
    claims.end_object();
    std::string const text = web_push::encoded(R"({"typ":"JWT","alg":"ES256"})") + "." +
                             web_push::encoded(claims.take());
    return "vapid t=" + text + "." + base64url(es256(sender.secret, text)) +
           ", k=" + base64url(sender.key);
}

std::string VapidTokens::of(std::string_view endpoint, Time now) {
    std::string const origin = web_push::origin_of(endpoint);
    auto found = by_origin_.find(origin);
    bool const fresh = found != by_origin_.end() && now >= found->second.made &&
                       now - found->second.made < web_push::token_reuse;
    if (fresh) return found->second.text;
    if (by_origin_.size() >= most) by_origin_.clear();
    Token& token = by_origin_[origin];
    token = {vapid(sender_, endpoint, now), now};
    return token.text;
}

Result<ServiceRequest> push_request(std::string authorization, PushDevice const& to,
                                    PushMessage const& message, PushRandom const& random) {
    auto body = push_body(to, message.text, random);
    if (!body) return std::unexpected(std::move(body.error()));
    ServiceRequest out;
    out.url = to.endpoint;
    out.headers = {{"Content-Type", "application/octet-stream"},
                   {"Content-Encoding", "aes128gcm"},
                   {"TTL", std::to_string(message.ttl / Duration(1'000))},
                   {"Urgency", message.urgency},
                   {"Topic", message.topic},
                   {"Authorization", std::move(authorization)}};
    out.body = *std::move(body);
    return out;
}

ServiceReply push_reply(int status) {
    ServiceReply out = by_status(status);
    out.gone = status == 404 || status == 410;
    if (out.taken) out.reference = "1";  // a later message replaces it by its topic
    if (status == 401 || status == 403) out.why += ": it refuses the server's key (push.key)";
    if (status == 413) out.why += ": the message is too large";
    return out;
}

namespace web_push {
namespace {

ServiceReply reply(ServiceAnswer const& answer) { return push_reply(answer.status); }

}  // namespace
}  // namespace web_push

// pump_push.cc makes its requests.
Service const web_push_service{nullptr, web_push::reply};

}  // namespace dormouse::webhook
