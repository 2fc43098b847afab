#pragma once
// Mail as the message that a model reads.

#include "session/event.h"

namespace dormouse::wire {

// The parts of the user message: a heading that names sender and mail, marked synthetic, and the
// text.
[[nodiscard]] Json mail_parts(session::Mail const& mail);
// That one could not be delivered; synthetic.
[[nodiscard]] Json bounce_parts(SessionId const& session, session::MailBounced const& bounced);

}  // namespace dormouse::wire
