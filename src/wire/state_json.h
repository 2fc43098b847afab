#pragma once
// The snapshot: State as JSON. A cache of the fold, never the truth: an unreadable or older format
// is ignored and the journal is folded from its start.

#include <dormouse/error.h>

#include "session/state.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::wire {

// A journal whose older part is gone begins with a state (wire/record.h), which is no cache: a
// release that changes the format goes on reading this one there.
inline constexpr std::uint32_t snapshot_format = 3;

[[nodiscard]] std::string write_state(session::State const& state);
// nullopt: not a snapshot of this format.
[[nodiscard]] std::optional<session::State> read_state(SessionId const& session,
                                                       std::string_view text);

}  // namespace dormouse::wire
