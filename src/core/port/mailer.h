#pragma once
// Sends mail between sessions. Called from the loop.

#include "port/world.h"
#include "session/command.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::port {

struct Letter {
    // Aliases or ids of sessions of the same project, "PROJECT/ALIAS" and ids of those to which the
    // sender's project may write. Empty: every session of it that has an alias,
    // except the sender.
    std::vector<std::string> to;
    std::string text;
    std::optional<session::MailId> reply_to = {};
    session::Wake wake = session::Wake::usual;
    std::optional<Duration> ttl =
        {};  // unread for so long it is read by nobody; the sender is told
    // The sender must be of this project; empty: of any.
    std::string project = {};
    // False: sessions of this agent do not get it. Called on the store's thread; empty: all do.
    std::function<bool(std::string const& agent)> reaches = {};
};

// Who sends. The same key with the same digest sends once.
struct MailSender {
    session::Actor by;
    std::string idem_key = {};
    std::string idem_digest = {};
};

// What is known of one receiver so far.
struct MailFate {
    enum class Status : std::uint8_t {
        queued,     // stored, and not taken up yet
        delivered,  // durable in the receiver's inbox; an idle one is awake
        held,       // likewise, and only a person lets it wake the receiver
        failed,
    };
    std::string name;  // as the letter says it
    std::optional<SessionId> session;
    Status status = Status::queued;
    std::string why = {};  // failed
};

struct MailPosted {
    session::MailId id;  // zero: nobody could be found to send it to
    std::vector<MailFate> fates;
    bool duplicate = false;
};

class Mailer {
public:
    virtual ~Mailer() = default;
    // `done` gets what is known when every receiver has it, or after `wait`. The mail is durable
    // then. Names that nobody has are failed, and keep no other from getting it.
    virtual void send(SessionId from, Letter letter, MailSender sender, Duration wait,
                      Fn<void(Result<MailPosted>)> done) = 0;
};

[[nodiscard]] inline std::string_view text(MailFate::Status status) {
    switch (status) {
        case MailFate::Status::queued: return "queued";
        case MailFate::Status::delivered: return "delivered";
        case MailFate::Status::held: return "held";
        case MailFate::Status::failed: break;
    }
    return "failed";
}

}  // namespace dormouse::port
