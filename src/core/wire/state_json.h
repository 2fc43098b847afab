#pragma once
// The snapshot: State as JSON. A cache of the fold, never the truth: an unreadable or older format
// is ignored and the journal is folded from its start.

#include <dormouse/error.h>

#include "session/state.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::wire {

// 4: State::messages counts what lists show.
inline constexpr std::uint32_t snapshot_format = 4;
// Of the state that a journal begins with whose older part is gone (wire/record.h). That is no
// cache: a release that changes this format continues to read the older ones. It has the members of
// snapshot format 4; in one that release 0.1 wrote, `messages` counts all that came, and so does
// the `history_cut` that belongs to it.
inline constexpr std::uint32_t base_format = 3;

[[nodiscard]] std::string write_state(session::State const& state);
// nullopt: not a snapshot of this format.
[[nodiscard]] std::optional<session::State> read_state(SessionId const& session,
                                                       std::string_view text);

}  // namespace dormouse::wire
