#pragma once
// A session whose stored data cannot be read affects itself only: every request for it fails with
// `internal`, `"unreadable": true` and what to do, and all other sessions continue.

#include <dormouse/error.h>
#include <dormouse/id.h>

namespace dormouse::runner {

// Marks the error as that of an unreadable session. An error that is no damage (the store does not
// answer, a newer format) is returned unchanged.
[[nodiscard]] Error unreadable(SessionId const& session, Error error);
[[nodiscard]] bool is_unreadable(Error const& error);

}  // namespace dormouse::runner
