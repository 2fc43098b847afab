#pragma once
// Sends mail between sessions. Called from the loop.

#include "port/world.h"
#include "session/command.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::port {

struct MailDraft {
    // Aliases or ids of sessions of the same project; "PROJECT/ALIAS" or ids of projects to which
    // the sender's project may write. Empty: every session of the sender's project that has an
    // alias, except the sender.
    std::vector<std::string> to;
    std::string text;
    std::optional<session::MailId> reply_to = {};
    session::Wake wake = session::Wake::standard;
    // If no request has read it by then, none will; the sender is notified.
    std::optional<Duration> ttl = {};
    // The project that the sender must be in; empty: any.
    std::string project = {};
    // Returns false for agents whose sessions do not get it. Called on the store's thread; empty:
    // all do.
    std::function<bool(std::string const& agent)> reaches = {};
};

// The sender. The same key with the same digest sends once.
struct MailSender {
    session::Actor by;
    std::string idem_key = {};
    std::string idem_digest = {};
};

// The delivery to one receiver, as known so far.
struct MailDelivery {
    enum class Status : std::uint8_t {
        queued,       // stored, not yet delivered
        delivered,    // durable in the receiver's inbox; an idle receiver is awake
        quarantined,  // durable in the inbox; wakes the receiver when a person releases it
        failed,
    };
    std::string name;  // as in the draft
    std::optional<SessionId> session;
    Status status = Status::queued;
    std::string why = {};  // set when failed
};

struct MailSubmission {
    session::MailId id;  // zero: no receiver was found
    std::vector<MailDelivery> deliveries;
    bool duplicate = false;
};

class Mailer {
public:
    virtual ~Mailer() = default;
    // `done` gets what is known when every receiver has the mail, or after `wait`. The mail is
    // durable then. An unknown name fails alone; the other receivers still get the mail.
    virtual void send(SessionId from, MailDraft draft, MailSender sender, Duration wait,
                      Fn<void(Result<MailSubmission>)> done) = 0;
};

[[nodiscard]] inline std::string_view text(MailDelivery::Status status) {
    switch (status) {
        case MailDelivery::Status::queued: return "queued";
        case MailDelivery::Status::delivered: return "delivered";
        case MailDelivery::Status::quarantined: return "quarantined";
        case MailDelivery::Status::failed: break;
    }
    return "failed";
}

}  // namespace dormouse::port
