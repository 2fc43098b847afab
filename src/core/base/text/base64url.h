#pragma once
// Reads base64url (RFC 4648, section 5) without padding, as keys of Web Push and JWTs have it.

#include <optional>
#include <string>
#include <string_view>

namespace dormouse {

// The bytes; nullopt unless `text` is base64url without padding and nothing else.
[[nodiscard]] std::optional<std::string> parse_base64url(std::string_view text);

}  // namespace dormouse
