#pragma once
// One run of a tool, held against what the tool declares.

#include <dormouse/tool.h>

#include "json/schema.h"

namespace dormouse::tools {

// Texts and values that a pause brings; placeholders have the limit of outputs.
inline constexpr std::size_t pause_part_max = std::size_t{64} << 10;

// A tool with its schemas read.
struct Prepared {
    explicit Prepared(ToolPtr of);

    ToolPtr tool;
    json::Schema input;
    std::optional<json::Schema> result;
};

// Checks the arguments, runs the tool on this thread, catches what it throws, and checks what it
// answers: a result must fit its schema and its limit, a pause must be one that is declared.
// What breaks the rules of a tool becomes an error for the model; a placeholder that does is
// replaced, so that what has been begun outside is not lost.
[[nodiscard]] RawOutcome run(Prepared const& prepared, Call const& call);

// Within the tool's time limit, on a thread of its own: one that does not end in time is asked to
// stop and left alone, and its outcome is in doubt.
[[nodiscard]] RawOutcome run_in_time(std::shared_ptr<Prepared const> prepared, Call const& call);

}  // namespace dormouse::tools
