#pragma once
// Texts of small values, the same in records and in every interface.

#include "session/event.h"
#include "session/vocabulary.h"

#include <string>
#include <string_view>

namespace dormouse::wire {

[[nodiscard]] std::string call_text(CallNo call);                       // "call_7"
[[nodiscard]] std::optional<CallNo> parse_call(std::string_view text);  // nullopt: another form

// "token:alice"; the name may contain colons.
[[nodiscard]] std::string actor_text(session::Actor const& actor);
[[nodiscard]] session::Actor parse_actor(std::string_view text);

// {"USD":1250}; null if it is unknown.
[[nodiscard]] Json cost_json(session::Cost const& cost);

[[nodiscard]] std::string_view source_text(session::InputSource source);
[[nodiscard]] session::InputSource parse_source(std::string_view text);

}  // namespace dormouse::wire
