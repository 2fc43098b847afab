#pragma once
// A session whose stored data cannot be read. It harms itself only: every request for it fails with
// `internal`, `"unreadable": true` and what to do, and the rest of the store goes on.

#include <dormouse/error.h>
#include <dormouse/id.h>

namespace dormouse::runner {

// The error as readers of that session are answered. What is no damage (a store that does not
// answer, a newer format) stays as it is.
[[nodiscard]] Error unreadable(SessionId const& session, Error error);
[[nodiscard]] bool is_unreadable(Error const& error);

}  // namespace dormouse::runner
