#pragma once
// Mail as a message for the model.

#include "session/event.h"

namespace dormouse::wire {

// The parts of the user message: a heading with sender and mail id, marked synthetic, and the text.
[[nodiscard]] Json mail_parts(session::Mail const& mail);
// The parts of a delivery failure, marked synthetic.
[[nodiscard]] Json bounce_parts(SessionId const& session, session::MailBounced const& bounced);

}  // namespace dormouse::wire
