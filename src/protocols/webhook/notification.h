#pragma once
// Notifications to people: a call waits for them, or has ended. Pure.

#include <dormouse/time.h>

#include "base/crypto/sha256.h"

#include <optional>
#include <string>
#include <string_view>

namespace dormouse::webhook {

// Texts have no invisible characters and are cut to the lengths below.
struct Notification {
    std::string event;    // the type of the session's event: "gate_asked"
    std::string reason;   // session::PauseReason
    std::string pending;  // pendingID
    std::string session;  // its id
    std::string agent = {};
    std::string tool = {};
    std::string question = {};   // for people; may be empty
    std::string arguments = {};  // JSON
    std::string digest = {};     // of the arguments: "sha256:…"; empty: unknown
    std::string url = {};        // of its page; empty: there is no public address
    std::string outcome = {};    // "Approved by bob"; empty: the call waits
    std::optional<Time> deadline = {};
    // Tool, question and arguments are here as they are, and the call shows no more than these.
    bool is_whole = false;
    bool always_ask = false;  // its gate wants each call read on the page
};

inline constexpr std::size_t question_shown = 1'000;  // bytes
inline constexpr std::size_t arguments_shown = 1'000;

// "Approval wanted", "Still waiting"; of a call that ended, its outcome.
[[nodiscard]] std::string headline(Notification const& it);
// All of it as plain text of several lines, with the link.
[[nodiscard]] std::string plain_text(Notification const& it);
// Returns true if approving or denying answers it, without any other value, and a person who reads
// it has seen all that would run.
[[nodiscard]] bool is_decidable(Notification const& it);

// The JSON that kinds webhook and command get, and that the outbox stores.
[[nodiscard]] std::string write_notification(Notification const& it);
// nullopt: it is not such JSON; release 0.1 stored what Slack gets.
[[nodiscard]] std::optional<Notification> read_notification(std::string_view text);

}  // namespace dormouse::webhook
