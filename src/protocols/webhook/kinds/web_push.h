#pragma once
// Web Push: messages to browsers (RFC 8030) that only the browser can read (RFC 8291), from a
// server that names itself by its key (VAPID, RFC 8292). Pure: the caller draws what is random.

#include "base/crypto/p256.h"
#include "port/store_rows.h"
#include "webhook/kinds/kinds.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dormouse::webhook {

// The sender. Push services may write to `contact`: "mailto:ops@example.org" or an https URL.
struct PushSender {
    P256Secret secret{};
    P256Point key{};  // the public key that browsers subscribe with
    std::string contact = {};
};
// nullopt: the secret is no private key.
[[nodiscard]] std::optional<PushSender> push_sender(P256Secret const& secret, std::string contact);

struct PushDevice {
    std::string endpoint;
    P256Point key{};   // p256dh
    std::string auth;  // 16 bytes
};
// nullopt: a key is not one.
[[nodiscard]] std::optional<PushDevice> push_device(port::DeviceRow const& row);

struct PushMessage {
    std::string text;     // JSON for the service worker, at most push_text_max bytes
    std::string topic;    // a newer message of the same topic replaces one that was not delivered
    std::string urgency;  // RFC 8030, section 5.3
    Duration ttl{};       // how long the push service keeps it
};
// With the header, the end mark and the tag, a body has at most 4,096 bytes.
inline constexpr std::size_t push_text_max = 4'096 - (16 + 4 + 1 + 65) - 1 - 16;

[[nodiscard]] PushMessage push_message(Notification const& it, Time now);
// Returns the message by which a person tests their own device.
[[nodiscard]] PushMessage push_test_message(std::string const& device);

// Fresh for each message: its salt and the secret of its key pair.
struct PushRandom {
    Random salt{};
    P256Secret secret{};
};
// Returns the body of a message. Errors: too_large; internal (the secret is no private key: draw
// again).
[[nodiscard]] Result<std::string> push_body(PushDevice const& to, std::string_view text,
                                            PushRandom const& random);
// The header Authorization for the push service of `endpoint`.
[[nodiscard]] std::string vapid(PushSender const& sender, std::string_view endpoint, Time now);
// Signs for each push service at most once an hour: a signature costs more than all else.
class VapidTokens {
public:
    explicit VapidTokens(PushSender sender) : sender_(std::move(sender)) {}
    [[nodiscard]] std::string of(std::string_view endpoint, Time now);

private:
    static constexpr std::size_t most = 100;
    struct Token {
        std::string text;
        Time made{};
    };
    PushSender sender_;
    std::map<std::string, Token> by_origin_;
};
// The whole request. `authorization`: see vapid(). Errors: as push_body().
[[nodiscard]] Result<ServiceRequest> push_request(std::string authorization, PushDevice const& to,
                                                  PushMessage const& message,
                                                  PushRandom const& random);
// Returns the meaning of the answer of a push service.
[[nodiscard]] ServiceReply push_reply(int status);

}  // namespace dormouse::webhook
