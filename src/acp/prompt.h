#pragma once
// What a program is prompted with. Pure.

#include "acp/words.h"
#include "port/effects.h"

#include <string>

namespace dormouse::acp {

struct PromptTerms {
    bool images = false;         // the program takes them
    bool tell_past = false;      // it has lost its past, or never had it
    bool go_on = false;          // it had this prompt in an attempt before, or may have had
    bool sure = false;           // … it had
    bool has_it = false;         // … and it stands in what the program remembers
    bool repeated = false;       // … and what broke off was told there already
    std::size_t past_bytes = 0;  // room for the past
    bool past_by_tool = false;   // it can read what there is no room for
};

// The last one holds `marker`, by which the prompt is known again. REQUIRES: request.program.
[[nodiscard]] std::vector<Block> prompt_blocks(port::ModelRequest const& request,
                                               PromptTerms const& terms, std::string const& marker);

// Whether there is anything before this prompt that a program could be told.
[[nodiscard]] bool has_past(port::ModelRequest const& request);

// Whether `text` holds the marker of an attempt before `attempt`, and not before `from`.
[[nodiscard]] bool holds_marker(std::string_view text, std::string const& marker,
                                std::uint32_t attempt, std::uint32_t from = 1);

}  // namespace dormouse::acp
