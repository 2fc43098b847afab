#pragma once
// Messages between sessions as bytes of outbox rows.

#include <dormouse/error.h>

#include "session/outbox_message.h"

#include <string>
#include <string_view>

namespace dormouse::wire {

// {"kind":"start_run",…}
[[nodiscard]] std::string write_outbox_body(session::OutboxBody const& what);
// REQUIRES: `text` was written by write_post() of this or another release. Errors: newer_format.
[[nodiscard]] Result<session::OutboxBody> read_outbox_body(std::string_view text);

}  // namespace dormouse::wire
