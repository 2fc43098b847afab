#pragma once
// The snapshot: State as JSON. A cache of the fold: an unreadable snapshot, or one of an older
// format, is ignored and the journal is folded from its start.

#include <dormouse/error.h>

#include "session/state.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace dormouse::wire {

// 4: State::messages counts what lists show.
inline constexpr std::uint32_t snapshot_format = 4;
// Format of the state with which a journal begins after retention removed its older part
// (wire/journal/record.h). Not a cache: a release that changes this format must still read older
// ones. It has the members of snapshot format 4. In states written by release 0.1, `messages`
// counts all messages ever received, and so does the `history_cut` event that belongs to them.
inline constexpr std::uint32_t base_format = 3;

[[nodiscard]] std::string write_state(session::State const& state);
// nullopt: not a snapshot of this format.
[[nodiscard]] std::optional<session::State> read_state(SessionId const& session,
                                                       std::string_view text);

}  // namespace dormouse::wire
