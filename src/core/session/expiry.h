#pragma once
// The error of a call that expired: the same words for the model, the API, webhooks and people.

#include "session/vocabulary.h"

#include <string_view>

namespace dormouse::session {

// `asked`: what the call waited for. Of a call that waited for people the text does not say that a
// tool ran.
[[nodiscard]] std::string_view expiry_text(PauseReason asked, ErrorReason reason);

}  // namespace dormouse::session
