#pragma once
// The admission check. Everything that enters a session (from HTTP, the library, a tool, a model, a
// gate, an interceptor or an external agent) is a command and passes admit() before it is decided.
// Labels of a session must be at most 64 strings of at most 4 KiB, with names of at most 128 bytes,
// together at most 16 KiB.
// So every text in a journal is UTF-8, and every value is JSON as json::check() accepts it: nested
// at most 64 deep, without duplicate keys, without line breaks between tokens.

#include <dormouse/error.h>

#include "session/command.h"

namespace dormouse::wire {

// Refuses bad commands of callers: bad_value, with the name of the field. Repairs outcomes of
// effects, which cannot be refused: in texts U+FFFD replaces each ill-formed sequence, and an
// outcome with a value that is not JSON becomes a failure that says so (a tool's error, a gate's
// denial, a model's failure).
[[nodiscard]] Result<void> admit(session::Command& command);

// Work on a value of this size or more takes too long on the loop.
inline constexpr std::size_t large_bytes = std::size_t{64} << 10;

// Bytes of the texts and values that admit() checks.
[[nodiscard]] std::size_t bytes_of(session::Command& command);

}  // namespace dormouse::wire
