#pragma once
// Outgoing e-mail. Called from the loop; the callback comes on the loop.

#include "port/world.h"

#include <dormouse/error.h>

#include <functional>
#include <string>

namespace dormouse::port {

struct Mail {
    std::string from;  // addresses of the envelope
    std::string to;
    std::string content;  // headers, an empty line and the body, with CRLF
    // Called just before it is sent, on the loop; false: it is not sent, and `done` gets conflict.
    // Empty: true.
    std::function<bool()> wanted = {};
};

class MailClient {
public:
    virtual ~MailClient() = default;
    // `done` gets an error whose detail says what the mail server did, without secrets:
    // `overloaded` when too many wait, `bad_value` when the server refuses the mail for good (5xx),
    // else `store_unavailable`. Dropped when the client ends.
    virtual void send(Mail mail, Fn<void(Result<void>)> done) = 0;
};

}  // namespace dormouse::port
