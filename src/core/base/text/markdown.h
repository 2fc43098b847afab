#pragma once
// Parses Markdown into pieces that a page and a terminal each render. Used for questions of models.
// Known: paragraphs, headings, lists, code blocks, `code`, **strong** and *emphasis*; everything
// else (HTML, links, tables, quotes, escapes) stays as text. So nothing that a person must see
// before answering is hidden or changed: only the marks are removed. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::markdown {

enum class Mark : std::uint8_t {
    // Blocks.
    paragraph,
    heading,
    list,        // `ordered` says of which kind
    item,        // `text`: the number in an ordered list
    code_block,  // its text ends each line but the last with \n
    // Within a line.
    strong,
    emphasis,
    code,
    // Without an end.
    text,
    line_break,
};

struct Piece {
    enum class Edge : std::uint8_t { alone, begin, end };
    Mark mark = Mark::text;
    Edge edge = Edge::alone;
    std::string text = {};  // of `text`: not escaped
    bool ordered = false;   // of `list`, at both ends

    friend bool operator==(Piece const&, Piece const&) = default;
};

// nullopt: the text is longer than 16 KiB, and must be shown as it is. Lists nest at most 8 deep.
[[nodiscard]] std::optional<std::vector<Piece>> pieces(std::string_view text);

// What is written before and after a piece within a line.
struct Span {
    std::string_view begin = {};
    std::string_view end = {};
};
struct Marks {
    Span strong = {};  // also of headings
    Span emphasis = {};
    Span code = {"`", "`"};
};
// As in Markdown itself.
inline constexpr Marks written_marks{{"**", "**"}, {"*", "*"}, {"`", "`"}};

// Plain text for people: writes `marks` around emphasis and code, separates blocks. Escapes
// control and invisible characters of `text`; the last line has no \n.
[[nodiscard]] std::string plain_text(std::string_view text, Marks const& marks = {});

}  // namespace dormouse::markdown
