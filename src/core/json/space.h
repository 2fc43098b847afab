#pragma once

namespace dormouse::json {

// Characters allowed between two tokens (RFC 8259 §2).
constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace dormouse::json
