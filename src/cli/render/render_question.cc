#include "cli/render/render_question.h"

#include "base/text/markdown.h"
#include "base/text/text.h"
#include "json/changes.h"

namespace dormouse::cli {

namespace {
// Bold, italic, cyan.
constexpr markdown::Marks terminal_marks{
    {"\x1b[1m", "\x1b[22m"}, {"\x1b[3m", "\x1b[23m"}, {"\x1b[36m", "\x1b[39m"}};
}  // namespace

std::string question_text(json::View question, std::size_t indent, Style style) {
    auto const& marks = style.color ? terminal_marks : markdown::written_marks;
    std::string out;
    bool begins = false;  // at the beginning of a line after the first
    for (char const c : markdown::plain_text(plain(question), marks)) {
        if (begins && c != '\n') out.append(indent, ' ');
        begins = c == '\n';
        out += c;
    }
    return out;
}

std::string changes_text(json::View before, json::View after, std::size_t indent, Style style) {
    std::string out;
    auto const add = [&](Paint paint, char sign, std::string const& name,
                         std::optional<std::string> const& value) {
        if (!value) return;
        std::string const line = (name.empty() ? "" : name + ": ") + *value;
        out += std::string(indent, ' ') +
               style(paint, std::string(1, sign) + " " + escape_for_terminal(line)) + "\n";
    };
    for (json::Change const& change : json::changes(before, after)) {
        add(Paint::red, '-', change.name, change.before);
        add(Paint::green, '+', change.name, change.after);
    }
    return out;
}

}  // namespace dormouse::cli
