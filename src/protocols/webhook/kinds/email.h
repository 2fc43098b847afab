#pragma once
// E-mail about a call, and with a link to sign in, as plain text. Pure.

#include "webhook/notification.h"

#include <string>
#include <string_view>

namespace dormouse::webhook {

struct MailText {
    std::string from;  // addresses
    std::string to;
    std::string subject;
    std::string body;
    std::string id;  // unique, of letters, digits and _ -
    Time at{};
};

// Returns headers, an empty line and the body (RFC 5322, MIME), with CRLF. No text can add a
// header.
[[nodiscard]] std::string mail_content(MailText const& mail);

// A sign-in link works once and signs its reader in; the page asks who it is.
enum class LeadsTo : std::uint8_t { sign_in, page };
// The subject and text of a notification by e-mail.
[[nodiscard]] std::string mail_subject(Notification const& it);
[[nodiscard]] std::string mail_body(Notification const& it, std::string const& url, LeadsTo what);

}  // namespace dormouse::webhook
