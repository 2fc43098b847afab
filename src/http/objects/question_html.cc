#include "http/objects/question_html.h"

#include "base/text/markdown.h"
#include "http/objects/html.h"

#include <algorithm>
#include <span>

namespace dormouse::http {

namespace {

using markdown::Mark;
using markdown::Piece;
using Edge = Piece::Edge;

std::string tag(Piece const& piece, std::string_view name) {
    return (piece.edge == Edge::end ? "</" : "<") + std::string(name) + ">";
}

// Writes the number, because browsers would count from 1.
std::string item_tag(Piece const& piece) {
    if (piece.edge == Edge::end) return "</li>\n";
    return piece.text.empty() ? "<li>" : "<li value=\"" + piece.text + "\">";
}

std::string html_of(std::span<Piece const> pieces) {
    std::string out;
    for (Piece const& piece : pieces) {
        bool const ends = piece.edge == Edge::end;
        switch (piece.mark) {
            case Mark::text: out += html_text(piece.text); break;
            case Mark::line_break: out += "<br>"; break;
            case Mark::paragraph: out += tag(piece, "p") + (ends ? "\n" : ""); break;
            case Mark::heading: out += tag(piece, "h2") + (ends ? "\n" : ""); break;
            case Mark::list: out += tag(piece, piece.ordered ? "ol" : "ul") + "\n"; break;
            case Mark::item: out += item_tag(piece); break;
            case Mark::code_block: out += tag(piece, "pre") + (ends ? "\n" : ""); break;
            case Mark::strong: out += tag(piece, "strong"); break;
            case Mark::emphasis: out += tag(piece, "em"); break;
            case Mark::code: out += tag(piece, "code"); break;
        }
    }
    return out;
}

// Returns false if there is only text and line breaks, which are shown as written.
bool is_marked(std::span<Piece const> pieces) {
    return std::ranges::any_of(pieces, [](Piece const& piece) {
        return piece.mark != Mark::text && piece.mark != Mark::line_break &&
               piece.mark != Mark::paragraph;
    });
}

}  // namespace

QuestionHtml question_html(std::string_view question, std::string_view heading) {
    auto const all = markdown::pieces(question);
    if (!all || all->empty()) return {html_text(question), ""};
    bool const marked = is_marked(*all);
    auto const paragraphs = std::ranges::count(*all, Mark::paragraph, &Piece::mark) / 2;
    if (!marked && paragraphs == 1) return {html_text(question), ""};
    std::span<Piece const> rest(*all);
    std::string head = html_text(heading);
    Mark const first = rest.front().mark;
    if (first == Mark::paragraph || first == Mark::heading) {
        auto const end = std::ranges::find_if(rest, [&](Piece const& piece) {
            return piece.mark == first && piece.edge == Edge::end;
        });
        auto const count = static_cast<std::size_t>(end - rest.begin());
        head = html_of(rest.subspan(1, count - 1));
        rest = rest.subspan(count + 1);
    }
    std::string body;
    if (!rest.empty()) body = "<div class=\"md\">\n" + html_of(rest) + "</div>\n";
    if (marked)
        body += "<details><summary>The question as it was sent</summary><pre>" +
                html_text(question) + "</pre></details>\n";
    return {head, body};
}

}  // namespace dormouse::http
