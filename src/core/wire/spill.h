#pragma once
// Outputs that are too large for a record.

#include "session/command.h"

namespace dormouse::wire {

// Puts an output of the command that is over `output_bytes` aside as its last artifact. What is
// left in its place is {"truncated":true,"head":…,"tail":…,"bytes":…}, which fits. A string is kept
// as its text, anything else as JSON; head and tail are cut between characters. An output over
// limits::artifact_bytes_max, or of a decision, stays as it is, and is refused later.
void spill(session::Command& command, std::size_t output_bytes);

// The output as it came, also when it was put aside; and about how many bytes it has.
[[nodiscard]] Json whole_output(session::Submit const& submit);
[[nodiscard]] std::size_t output_bytes(session::Submit const& submit);

}  // namespace dormouse::wire
