#pragma once
// How much of a session's past a model is shown.

#include "session/view.h"

namespace dormouse::wire {

// About so many: a token is four bytes of text; an image is 1,500, whatever its size; a file that
// is no text is a token for every twenty bytes.
[[nodiscard]] std::uint64_t tokens_of(session::ViewMessage const& message);

// Leaves out the oldest exchanges (a message of the user and all up to the next one) of a view over
// `tokens`: whole, and so many that it grows by a quarter of `tokens` before the next ones leave,
// because providers keep what begins alike. Those with a call that is open stay, and so does the
// newest, whatever they cost.
void fit(session::ModelView& view, std::uint64_t tokens);

}  // namespace dormouse::wire
