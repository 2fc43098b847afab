#include "base/text/markdown.h"

#include "base/text/text.h"

namespace dormouse::markdown {

namespace {

using Edge = Piece::Edge;

// Writes pieces as lines; the content of an item is indented below it.
class Lines {
public:
    explicit Lines(Marks const& marks) : marks_(marks) {}

    void write(Piece const& piece);
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    void begin_line(bool apart);
    void write_text(std::string_view text);
    void write_mark(std::string_view mark);
    void begin(Piece const& piece);
    void end(Piece const& piece);

    Marks marks_;
    std::string out_;
    std::vector<std::string> indents_;  // one for each open item and code block
    bool fresh_ = true;                 // the line has only its indent and a marker
};

void Lines::begin_line(bool apart) {
    if (fresh_) return;
    out_ += apart ? "\n\n" : "\n";
    for (std::string const& indent : indents_) out_ += indent;
    fresh_ = true;
}

void Lines::write_text(std::string_view text) {
    for (char const c : escape_for_terminal(text, true)) {
        if (c == '\n') {
            fresh_ = false;
            begin_line(false);
        } else {
            out_ += c;
            fresh_ = false;
        }
    }
}

// A mark may have escape sequences.
void Lines::write_mark(std::string_view mark) {
    if (mark.empty()) return;
    out_ += mark;
    fresh_ = false;
}

void Lines::begin(Piece const& piece) {
    switch (piece.mark) {
        case Mark::paragraph: begin_line(true); break;
        case Mark::heading:
            begin_line(true);
            write_mark(marks_.strong.begin);
            break;
        case Mark::list: begin_line(false); break;
        case Mark::item: {
            begin_line(false);
            std::string const marker = piece.text.empty() ? "- " : piece.text + ". ";
            out_ += marker;
            indents_.emplace_back(marker.size(), ' ');
            break;
        }
        case Mark::code_block:
            begin_line(true);
            out_ += "    ";
            indents_.emplace_back("    ");
            break;
        case Mark::strong: write_mark(marks_.strong.begin); break;
        case Mark::emphasis: write_mark(marks_.emphasis.begin); break;
        case Mark::code: write_mark(marks_.code.begin); break;
        default: break;
    }
}

void Lines::end(Piece const& piece) {
    switch (piece.mark) {
        case Mark::item: indents_.pop_back(); break;
        case Mark::code_block:
            indents_.pop_back();
            fresh_ = false;
            break;
        case Mark::heading:
        case Mark::strong: write_mark(marks_.strong.end); break;
        case Mark::emphasis: write_mark(marks_.emphasis.end); break;
        case Mark::code: write_mark(marks_.code.end); break;
        default: break;
    }
}

void Lines::write(Piece const& piece) {
    if (piece.edge == Edge::begin) return begin(piece);
    if (piece.edge == Edge::end) return end(piece);
    if (piece.mark == Mark::line_break) return write_text("\n");
    write_text(piece.text);
}

}  // namespace

std::string plain_text(std::string_view text, Marks const& marks) {
    auto const all = pieces(text);
    if (!all) return escape_for_terminal(text, true);
    Lines lines(marks);
    for (Piece const& piece : *all) lines.write(piece);
    return lines.take();
}

}  // namespace dormouse::markdown
