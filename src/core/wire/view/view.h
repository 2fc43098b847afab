#pragma once
// The model's view of a session (rule 5): every call is answered exactly once, right after the
// message that made it, by its outcome or, while open, by its placeholder. A placeholder that a
// committed step has seen is never replaced: the outcome comes later as a user message. So the view
// only grows at its end.

#include "session/view.h"
#include "wire/journal/history.h"

namespace dormouse::wire {

inline constexpr std::size_t view_messages_max = 1'000;
inline constexpr std::size_t view_messages_leave = 100;

// Returns the messages that a request with `view_seq` sees. REQUIRES: `history` holds at least the
// records up to view_seq.
[[nodiscard]] session::ModelView model_view(History const& history, Seq view_seq);

// The two steps of model_view(): all messages; then drops the oldest ones, by the hundred.
[[nodiscard]] session::ModelView whole_view(History const& history, Seq view_seq);
void forget_oldest(session::ModelView& view);

}  // namespace dormouse::wire
