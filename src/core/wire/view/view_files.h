#pragma once
// Images and files that a view names and whose bytes a request contains.

#include "session/view.h"

namespace dormouse::wire {

// Limit of their bytes in a request. Over it the oldest are dropped, in steps of
// view_file_bytes_leave, so that the rest stays equal for a while (providers cache equal
// beginnings).
inline constexpr std::uint64_t view_file_bytes_max = std::uint64_t{20} << 20;
inline constexpr std::uint64_t view_file_bytes_leave = std::uint64_t{5} << 20;

// Their events, oldest first. Omits artifacts of other sessions.
[[nodiscard]] std::vector<Seq> files_of(session::ModelView const& view, SessionId const& session);

}  // namespace dormouse::wire
