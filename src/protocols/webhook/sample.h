#pragma once
// Makes payloads that a source reads: the inverse of read_payload(). Pure.

#include "webhook/source.h"

#include <optional>
#include <string>

namespace dormouse::webhook {

// The outcome of a call.
struct Sample {
    std::string pending = {};    // pendingID
    std::string reference = {};  // externalRef; empty: the call has none
    std::optional<std::string> error = {};
    Json output = {};  // not with `error`
};

// Errors: bad_value, if the source cannot name the call or cannot carry an error.
[[nodiscard]] Result<Json> sample_payload(Source const& source, Sample const& sample);

// The body as a sender of this kind writes it: Slack sends a form where the payload fits into one.
[[nodiscard]] std::string sample_body(Kind kind, Json const& payload);

// A press of a button under a message of slack-bot.
struct Press {
    std::string user = {};     // Slack's id of the person
    std::string pending = {};  // pendingID
    std::string digest = {};   // of the arguments that the message shows
    bool approves = true;
};
// The body of Slack's request.
[[nodiscard]] std::string sample_press(Press const& press);

}  // namespace dormouse::webhook
