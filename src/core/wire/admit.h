#pragma once
// The admission check: everything that enters a session, by HTTP, by the library, from a tool, a
// model, a gate, an interceptor or an external agent, is a command, and passes here before it is
// decided on. So every text in a journal is UTF-8, and every value in it is JSON as json::check()
// takes it: nested at most 64 deep, no key twice, no line break between its tokens.

#include <dormouse/error.h>

#include "session/command.h"

namespace dormouse::wire {

// What somebody asks for is refused: bad_value, with the name of the field. What a tool, a model or
// another effect brought is repaired, because there is nobody to refuse it to: in texts U+FFFD
// takes the place of each ill-formed sequence, and an outcome with a value that is not JSON becomes
// a failure that says so (a tool's error, a gate's denial, a model's failure).
[[nodiscard]] Result<void> admit(session::Command& command);

// From so many bytes on, work on a value holds up everybody else on the loop for too long.
inline constexpr std::size_t large_bytes = std::size_t{64} << 10;

// Bytes of the texts and values that admit() looks at.
[[nodiscard]] std::size_t bytes_of(session::Command& command);

}  // namespace dormouse::wire
