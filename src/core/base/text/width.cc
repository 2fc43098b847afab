#include "base/text/width.h"

#include "base/text/utf8.h"

#include <utf8proc.h>

#include <algorithm>

namespace dormouse {

std::size_t width(char32_t code) {
    if (code < 0x300) return 1;
    auto const& character = *utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
    switch (character.category) {
        case UTF8PROC_CATEGORY_MN:
        case UTF8PROC_CATEGORY_ME: return 0;
        default: break;
    }
    // Vowels and finals of Hangul join the syllable before them.
    auto const part = character.boundclass;
    if (part == UTF8PROC_BOUNDCLASS_V || part == UTF8PROC_BOUNDCLASS_T) return 0;
    return std::max(character.charwidth, 1U);
}

std::size_t width(std::string_view text) {
    std::size_t sum = 0;
    while (!text.empty()) {
        auto const next = decode_utf8(text);
        sum += width(next.code);
        text.remove_prefix(next.length);
    }
    return sum;
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (width(text) <= columns) return std::string(text);
    if (columns == 0) return {};
    std::size_t used = 0;
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        auto const next = decode_utf8(text.substr(bytes));
        used += width(next.code);
        if (used >= columns) break;  // one column is for the …
        bytes += next.length;
    }
    return std::string(text.substr(0, bytes)) + "…";
}

}  // namespace dormouse
