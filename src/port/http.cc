#include "port/http.h"

#include <algorithm>

namespace dormouse::port {

namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

}  // namespace

std::optional<std::string_view> HttpHead::header(std::string_view name) const {
    for (HttpHeader const& header : headers) {
        if (same_name(header.name, name)) return header.value;
    }
    return std::nullopt;
}

}  // namespace dormouse::port
