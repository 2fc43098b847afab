#pragma once
// Outputs that are too large for a record.

#include "session/command.h"

namespace dormouse::wire {

// Moves an output of the command that exceeds `output_bytes` into an artifact, its last one. Its
// place takes {"truncated":true,"head":…,"tail":…,"bytes":…}. A string is stored as its text,
// anything else as JSON; head and tail are cut between characters. Leaves alone outputs over
// limits::artifact_bytes_max, which are refused later, and outputs of decisions.
void spill(session::Command& command, std::size_t output_bytes);

// The original output, even if it was moved; and its approximate size in bytes.
[[nodiscard]] Json whole_output(session::Submit const& submit);
[[nodiscard]] std::size_t output_bytes(session::Submit const& submit);

}  // namespace dormouse::wire
