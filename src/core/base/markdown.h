#pragma once
// Markdown as a list of pieces that a page and a terminal each write in their own way. Models write
// it in questions. Known are paragraphs, headings, lists, blocks of code, `code`, **strong** and
// *emphasis*; everything else (HTML, links, tables, quotes, escapes) is text as it stands. So
// nothing that a person has to see before an answer is hidden or changed: only the marks go. Pure.

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
    item,        // `text`: the number that an ordered list gives it
    code_block,  // its text ends each line but the last with \n
    // Within a line.
    strong,
    emphasis,
    code,
    // Have no end.
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

// nullopt: the text is longer than 16 KiB, and is to be shown as it is. Lists nest at most 8 deep.
[[nodiscard]] std::optional<std::vector<Piece>> pieces(std::string_view text);

// For people who read it without marks: emphasis is left out, code keeps its `backticks`, blocks
// are apart. Control characters and what else is not seen are escaped; the last line has no \n.
// `strong` and `plain` stand before and after strong text, for terminals.
[[nodiscard]] std::string plain_text(std::string_view text, std::string_view strong = {},
                                     std::string_view plain = {});

}  // namespace dormouse::markdown
