#include "json/json.h"
#include "json/space.h"

namespace dormouse::json {

namespace {

// The index after the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    return text.size();
}

}  // namespace

Json compact(Json const& value) {
    std::string_view const text = value.text();
    if (text.find_first_of(" \n\r\t") == std::string_view::npos) return value;
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '"') {
            std::size_t const end = string_end(text, i);
            out.append(text.substr(i, end - i));
            i = end;
        } else {
            if (!is_space(text[i])) out += text[i];
            ++i;
        }
    }
    return Json::trusted(std::move(out));
}

}  // namespace dormouse::json
