#pragma once
// The body of an OpenAI-compatible chat completions request.

#include "model/tool_names.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::model {

struct ChatSettings {
    std::string model;
    std::optional<std::uint32_t> max_output_tokens = {};
    // The newer name of that limit, which OpenAI wants and most others do not know.
    bool max_completion_tokens = false;
    Json extra = {};  // an object whose members are sent along and replace ours, or null
};

// Each call of an assistant message is answered right after it, in its order, and under an id that
// occurs once in the whole request. A view that has only grown gives messages that have only grown.
[[nodiscard]] std::string chat_request(ChatSettings const& settings,
                                       agent::Question const& question, ToolNames const& names);

}  // namespace dormouse::model
