#pragma once
// Mail as members of the JSON of events and posts, and as the message that a model reads.

#include "json/json.h"
#include "session/event.h"

namespace dormouse::wire {

void write_mail(json::Writer& out, session::Mail const& mail);  // members
[[nodiscard]] session::Mail read_mail(json::View object);

void write_mail_targets(json::Writer& out, std::vector<session::MailTarget> const& to);  // array
[[nodiscard]] std::vector<session::MailTarget> read_mail_targets(json::View array);

// The parts of the user message: a heading that names sender and mail, marked synthetic, and the
// text.
[[nodiscard]] Json mail_parts(session::Mail const& mail);
// That one could not be delivered; synthetic.
[[nodiscard]] Json bounce_parts(SessionId const& session, session::MailBounced const& bounced);

}  // namespace dormouse::wire
