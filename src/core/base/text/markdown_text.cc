#include "base/text/markdown.h"

#include "base/text/text.h"

namespace dormouse::markdown {

namespace {

using Edge = Piece::Edge;

// Writes pieces as lines; the content of an item is indented below it.
class Lines {
public:
    Lines(std::string_view strong, std::string_view plain) : strong_(strong), plain_(plain) {}

    void write(Piece const& piece);
    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    void begin_line(bool apart);
    void write_text(std::string_view text);
    void begin(Piece const& piece);
    void end(Piece const& piece);

    std::string_view strong_;
    std::string_view plain_;
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

void Lines::begin(Piece const& piece) {
    switch (piece.mark) {
        case Mark::paragraph:
        case Mark::heading: begin_line(true); break;
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
        case Mark::strong: out_ += strong_; break;
        case Mark::code: write_text("`"); break;
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
        case Mark::strong: out_ += plain_; break;
        case Mark::code: write_text("`"); break;
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

std::string plain_text(std::string_view text, std::string_view strong, std::string_view plain) {
    auto const all = pieces(text);
    if (!all) return escape_for_terminal(text, true);
    Lines lines(strong, plain);
    for (Piece const& piece : *all) lines.write(piece);
    return lines.take();
}

}  // namespace dormouse::markdown
