#pragma once
// The images and files that a view of a session names, and whose bytes a request brings along.

#include "session/view.h"

namespace dormouse::wire {

// A request brings so many bytes of them; over it the oldest leave, so many at once that what is
// left stays the same for a while (providers keep what begins alike).
inline constexpr std::uint64_t view_file_bytes_max = std::uint64_t{20} << 20;
inline constexpr std::uint64_t view_file_bytes_leave = std::uint64_t{5} << 20;

// Their events, oldest first. What the messages name of another session is left out.
[[nodiscard]] std::vector<Seq> files_of(session::ModelView const& view, SessionId const& session);

}  // namespace dormouse::wire
