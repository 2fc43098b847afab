#pragma once
// The rows that an append carries beside its events; all of them can be rebuilt from the journal.

#include "port/store.h"
#include "session/key.h"
#include "session/post.h"
#include "session/state.h"
#include "wire/record.h"

#include <vector>

namespace dormouse::runner {

[[nodiscard]] port::PendingRow pending_row(session::PendingChange const& change);
[[nodiscard]] port::SessionRow session_row(session::State const& state);
// A post that waits to be delivered, from now on.
[[nodiscard]] port::PostRow post_row(session::State const& state, session::Post const& post,
                                     Time at);
// The session's row, when one of the events changes what it shows.
[[nodiscard]] std::optional<port::SessionRow> changed_row(
    session::State const& state, std::vector<wire::RecordPtr> const& records);

}  // namespace dormouse::runner
