#pragma once
// Runs a tool once and checks the outcome against the tool's declaration.

#include <dormouse/tool.h>

#include "json/schema/schema.h"

namespace dormouse::tools {

// The limit of each text and value of a pause; placeholders have the limit of outputs.
inline constexpr std::size_t pause_part_max = std::size_t{64} << 10;

// A tool with its parsed schemas.
struct Prepared {
    explicit Prepared(ToolPtr of);

    ToolPtr tool;
    json::Schema input;
    std::optional<json::Schema> result;
};

// Checks the arguments, runs the tool on this thread, catches exceptions and checks the outcome: a
// result must match its schema and limit, a pause must be declared. A violation becomes an error
// for the model; an invalid placeholder is replaced, so that work started outside is not lost.
[[nodiscard]] RawOutcome run(Prepared const& prepared, Call const& call);

// Runs the tool within its time limit on its own thread. A tool that does not end in time is asked
// to stop and left running, and its outcome is in doubt.
[[nodiscard]] RawOutcome run_in_time(std::shared_ptr<Prepared const> prepared, Call const& call);

}  // namespace dormouse::tools
