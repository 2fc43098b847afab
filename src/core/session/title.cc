#include "session/fold/fold.h"

#include "base/check.h"
#include "base/text/utf8.h"

#include <algorithm>

// The automatic title of a session.
namespace dormouse::session {

namespace {

constexpr std::size_t title_max = 80;

bool is_blank(char c) { return c == ' '; }

// The first line of a JSON string that begins after its quote, as far as a title needs it. Control
// characters become blanks.
std::string first_line(std::string_view quoted) {
    std::string out;
    for (std::size_t at = 0; at < quoted.size() && quoted[at] != '"'; ++at) {
        char c = quoted[at];
        if (c == '\\' && ++at < quoted.size()) {
            c = quoted[at];
            std::string_view const code = c == 'u' ? quoted.substr(at + 1, 4) : "";
            bool const ends = c == 'n' || c == 'r' || code == "000a" || code == "000d";
            if (ends && !out.empty()) break;
            at += code.size();
            if (c != '"' && c != '\\' && c != '/') c = ' ';
        }
        bool const repeats = is_blank(c) && (out.empty() || is_blank(out.back()));
        if (!repeats) out += c;
        if (out.size() > title_max) break;
    }
    CHECK(out.size() <= title_max + 1);
    return out;
}

// Cuts at a word if one ends in the second half; never inside a character.
std::string cut_at_a_word(std::string line) {
    constexpr std::string_view more = "…";
    if (line.size() > title_max) {
        std::size_t end = cut_utf8(line, title_max - more.size()).size();
        std::size_t const word = line.rfind(' ', end);
        if (word != std::string::npos && word > title_max / 2) end = word;
        line = line.substr(0, end) + std::string(more);
    }
    while (!line.empty() && is_blank(line.back())) line.pop_back();
    CHECK(line.size() <= title_max);
    return line;
}

}  // namespace

std::string title_in(Json const& parts) {
    // The form in which parts and messages are written. It cannot occur inside a JSON string.
    constexpr std::string_view before = R"("type":"text","text":")";
    std::string_view const text = parts.text();
    for (auto at = text.find(before); at != std::string_view::npos;
         at = text.find(before, at + 1)) {
        std::string title = cut_at_a_word(first_line(text.substr(at + before.size())));
        if (!title.empty()) return title;
    }
    return "";
}

}  // namespace dormouse::session
