#include "base/text/cut.h"

#include "base/text/utf8.h"

namespace dormouse {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    auto const first = text.find_first_not_of(space);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string cut_with_mark(std::string_view text, std::size_t bytes, std::string_view mark) {
    if (text.size() <= bytes) return std::string(text);
    return std::string(cut_utf8(text, bytes)) + std::string(mark);
}

}  // namespace dormouse
