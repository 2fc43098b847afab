#pragma once
// Converts an editor's prompt to the server's form. Pure.

#include "json/json.h"

#include <expected>
#include <string>

namespace dormouse::acp_agent {

// The member `text` or `parts` of a prompt's body.
struct AcpInput {
    std::string member = {};  // "text" or "parts"
    Json value = {};
};
[[nodiscard]] std::expected<AcpInput, std::string> acp_input(json::View blocks);

}  // namespace dormouse::acp_agent
