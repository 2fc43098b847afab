#include "base/text/base64url.h"

#include "base/text/text.h"

#include <algorithm>

namespace dormouse {

std::optional<std::string> parse_base64url(std::string_view text) {
    if (text.find_first_of("+/=") != std::string_view::npos) return std::nullopt;
    std::string padded(text);
    std::ranges::replace(padded, '-', '+');
    std::ranges::replace(padded, '_', '/');
    padded.append((4 - padded.size() % 4) % 4, '=');
    return parse_base64(padded);
}

}  // namespace dormouse
