#pragma once
// Limits the part of a session's history that a model is shown.

#include "session/view.h"

namespace dormouse::wire {

// Estimated tokens: one for four bytes of text, 1,500 for an image of any size, one for twenty
// bytes of another file.
[[nodiscard]] std::uint64_t tokens_of(session::ViewMessage const& message);

// Drops the oldest exchanges (a user message and everything up to the next one) of a view over
// `tokens`. Drops whole exchanges, and enough that the view can grow by a quarter of `tokens`
// before it drops more, because providers cache equal beginnings. Keeps exchanges with an open
// call, and the newest.
void fit(session::ModelView& view, std::uint64_t tokens);

}  // namespace dormouse::wire
