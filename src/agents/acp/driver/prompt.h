#pragma once
// Builds the prompt that an agent gets: the user's message, and what the agent must know after a
// crash or if it lacks the session's past. Pure.
// Example: the message "hello" becomes the blocks "hello" and "<!-- dormouse:.../1.1.1 -->".

#include "acp/protocol_types.h"
#include "port/effects.h"

#include <cstdint>
#include <string>

namespace dormouse::acp {

// How far earlier attempts have delivered this prompt. Each state includes the one before it.
enum class Delivery : std::uint8_t {
    none,
    possible,    // an attempt may have delivered it
    received,    // an attempt has delivered it
    remembered,  // the agent's past has it
    notified,    // the agent knows that the connection was lost
};

struct PromptTerms {
    Delivery delivery = Delivery::none;
    bool images = false;         // the agent accepts them
    bool with_past = false;      // the agent has lost its past or never had it
    std::size_t past_bytes = 0;  // how much of the past the prompt repeats at most
    bool past_by_tool = false;   // the agent can read the rest with a tool
};

// Appends `marker` as the last block: a replay finds the prompt by it. REQUIRES: request.external.
[[nodiscard]] std::vector<Block> prompt_blocks(port::ModelRequest const& request,
                                               PromptTerms const& terms, std::string const& marker);

// Returns whether the session has a past before this prompt.
[[nodiscard]] bool has_past(port::ModelRequest const& request);

// Returns whether `text` holds the marker of an attempt from `from` up to, but not including,
// `attempt`.
[[nodiscard]] bool holds_marker(std::string_view text, std::string const& marker,
                                std::uint32_t attempt, std::uint32_t from = 1);

}  // namespace dormouse::acp
