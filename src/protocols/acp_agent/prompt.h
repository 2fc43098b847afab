#pragma once
// What an editor says, as the server takes it. Pure.

#include "json/json.h"

#include <expected>
#include <string>

namespace dormouse::acp_agent {

// The member `text` or `parts` of a prompt's body for an array of ContentBlock. Errors: which block
// is not right, and why.
struct AcpInput {
    std::string member = {};  // "text" or "parts"
    Json value = {};
};
[[nodiscard]] std::expected<AcpInput, std::string> acp_input(json::View blocks);

}  // namespace dormouse::acp_agent
