#include "base/text/markdown.h"

#include "base/text/chars.h"

#include <algorithm>
#include <utility>

namespace dormouse::markdown {

namespace {

using Edge = Piece::Edge;

constexpr std::size_t text_max = 16'384;
constexpr std::size_t lists_max = 8;

// Between words: allowed next to the outside of a mark.
bool is_outside(char c) { return !is_letter_or_digit(c) && static_cast<unsigned char>(c) < 0x80; }

// Parses the marks within one line.
class Line {
public:
    Line(std::vector<Piece>& to, std::string_view text) : to_(to), text_(text) {}

    void read() { read(0, text_.size()); }

private:
    void read(std::size_t from, std::size_t until);
    void add(std::string_view text);
    // The length of the run of `text_[at]`.
    [[nodiscard]] std::size_t run(std::size_t at, std::size_t until) const;
    // The end of the mark that the run at `at` opens; npos: none.
    [[nodiscard]] std::size_t code_end(std::size_t at, std::size_t length, std::size_t until) const;
    [[nodiscard]] std::size_t mark_end(std::size_t at, std::size_t length, std::size_t until) const;

    std::vector<Piece>& to_;
    std::string_view text_;
};

void Line::add(std::string_view text) {
    if (text.empty()) return;
    bool const joins = !to_.empty() && to_.back().mark == Mark::text;
    if (!joins) to_.emplace_back();
    to_.back().text += text;
}

std::size_t Line::run(std::size_t at, std::size_t until) const {
    std::size_t end = at;
    while (end < until && text_[end] == text_[at]) ++end;
    return end - at;
}

std::size_t Line::code_end(std::size_t at, std::size_t length, std::size_t until) const {
    for (std::size_t i = at + length; i < until;) {
        std::size_t const here = text_[i] == '`' ? run(i, until) : 0;
        if (here == length) return i;
        i += std::max<std::size_t>(here, 1);
    }
    return std::string_view::npos;
}

// A mark opens before a word and closes after one: `a * b`, `2*3*4` and `snake_case_name` open
// nothing. A backslash before a mark stays, and the mark with it.
std::size_t Line::mark_end(std::size_t at, std::size_t length, std::size_t until) const {
    std::size_t const begin = at + length;
    bool const opens = (at == 0 || is_outside(text_[at - 1])) && begin < until &&
                       text_[begin] != ' ' && text_[begin] != '\t';
    for (std::size_t i = begin; opens && i < until;) {
        std::size_t const here = text_[i] == text_[at] ? run(i, until) : 0;
        bool const closes = here == length && i > begin && text_[i - 1] != ' ' &&
                            text_[i - 1] != '\\' &&
                            (i + here == text_.size() || is_outside(text_[i + here]));
        if (closes) return i;
        i += std::max<std::size_t>(here, 1);
    }
    return std::string_view::npos;
}

void Line::read(std::size_t from, std::size_t until) {
    std::size_t plain = from;  // start of the text that is not added yet
    for (std::size_t i = from; i < until;) {
        char const c = text_[i];
        if (c != '`' && c != '*' && c != '_') {
            i += c == '\\' ? 2 : 1;
            continue;
        }
        std::size_t const length = run(i, until);
        std::size_t end = std::string_view::npos;
        if (c == '`') end = code_end(i, length, until);
        if (c != '`' && length <= 2) end = mark_end(i, length, until);
        if (end == std::string_view::npos) {
            i += length;
            continue;
        }
        add(text_.substr(plain, i - plain));
        Mark const mark = c == '`' ? Mark::code : length == 2 ? Mark::strong : Mark::emphasis;
        to_.push_back({mark, Edge::begin, {}, false});
        if (mark == Mark::code)
            add(text_.substr(i + length, end - i - length));
        else
            read(i + length, end);
        to_.push_back({mark, Edge::end, {}, false});
        i = plain = end + length;
    }
    add(text_.substr(plain, until - plain));
}

// The beginning of a line.
struct Head {
    std::size_t indent = 0;        // columns of white space
    std::string_view rest = {};    // after the indent
    std::size_t marker = 0;        // of an item: length of its marker with the space; 0: none
    std::string_view number = {};  // of an item in an ordered list
};

Head head_of(std::string_view line) {
    Head head;
    std::size_t at = 0;
    for (; at < line.size() && (line[at] == ' ' || line[at] == '\t'); ++at)
        head.indent += line[at] == '\t' ? 4 : 1;
    head.rest = line.substr(at);
    std::size_t digits = 0;
    while (digits < head.rest.size() && is_digit(head.rest[digits])) ++digits;
    std::size_t const sign = digits;                       // position of the dot or the bullet
    bool const zeros = digits > 1 && head.rest[0] == '0';  // a page would show 7 for 007
    if (digits > 9 || zeros || sign + 1 >= head.rest.size() || head.rest[sign + 1] != ' ')
        return head;
    std::string_view const signs = digits > 0 ? ".)" : "-*+";
    if (signs.find(head.rest[sign]) == std::string_view::npos) return head;
    head.marker = sign + 2;
    head.number = head.rest.substr(0, digits);
    return head;
}

std::size_t fence_of(std::string_view rest) {
    if (rest.empty() || (rest[0] != '`' && rest[0] != '~')) return 0;
    auto const end = std::min(rest.find_first_not_of(rest[0]), rest.size());
    // ```code``` in one line is not a fence.
    bool const closes = rest[0] == '`' && rest.find('`', end) != std::string_view::npos;
    return end >= 3 && !closes ? end : 0;
}

class Reader {
public:
    [[nodiscard]] std::vector<Piece> read(std::string_view text);

private:
    struct List {
        std::size_t indent = 0;   // of its items
        std::size_t content = 0;  // of the content of the newest item
        bool ordered = false;
    };

    void read_line(std::string_view line);
    void read_text(Head const& head);
    void begin_item(Head const& head);
    void begin_code(Head const& head, std::size_t fence);
    void read_code(std::string_view line);
    void close_text();
    void close_list();
    void add(Mark mark, Edge edge) { pieces_.push_back({mark, edge, {}, false}); }

    std::vector<Piece> pieces_ = {};
    std::vector<List> lists_ = {};
    bool in_paragraph_ = false;
    bool has_text_ = false;  // the open paragraph or item has a line
    bool after_blank_ = false;
    std::string fence_ = {};  // not empty: a code block is open
    std::string code_ = {};
    std::size_t code_indent_ = 0;
};

void Reader::close_text() {
    if (in_paragraph_) add(Mark::paragraph, Edge::end);
    in_paragraph_ = false;
    has_text_ = false;
}

void Reader::close_list() {
    close_text();
    add(Mark::item, Edge::end);
    pieces_.push_back({Mark::list, Edge::end, {}, lists_.back().ordered});
    lists_.pop_back();
    has_text_ = !lists_.empty();
}

void Reader::begin_item(Head const& head) {
    bool const ordered = !head.number.empty();
    close_text();
    while (!lists_.empty() && head.indent < lists_.back().indent) close_list();
    bool const deeper =
        lists_.empty() || (head.indent >= lists_.back().content && lists_.size() < lists_max);
    if (!deeper && lists_.back().ordered != ordered) close_list();
    if (deeper || lists_.empty() || lists_.back().ordered != ordered) {
        lists_.push_back({head.indent, 0, ordered});
        pieces_.push_back({Mark::list, Edge::begin, {}, ordered});
    } else {
        add(Mark::item, Edge::end);
    }
    lists_.back().content = head.indent + head.marker;
    pieces_.push_back({Mark::item, Edge::begin, std::string(head.number), ordered});
    has_text_ = false;
    Head rest;
    rest.rest = head.rest.substr(head.marker);
    read_text(rest);
}

void Reader::read_text(Head const& head) {
    if (lists_.empty() && !in_paragraph_) {
        add(Mark::paragraph, Edge::begin);
        in_paragraph_ = true;
        has_text_ = false;
    }
    if (has_text_) add(Mark::line_break, Edge::alone);
    Line(pieces_, head.rest).read();
    has_text_ = true;
}

void Reader::begin_code(Head const& head, std::size_t fence) {
    close_text();
    add(Mark::code_block, Edge::begin);
    fence_ = head.rest.substr(0, fence);
    code_indent_ = head.indent;
    code_ = head.rest.substr(fence);
    auto const info = code_.find_first_not_of(' ');
    code_ = info == std::string::npos ? "" : code_.substr(info) + "\n";
}

void Reader::read_code(std::string_view line) {
    Head const head = head_of(line);
    std::size_t const fence = fence_of(head.rest);
    bool const ends = fence >= fence_.size() && head.rest[0] == fence_[0] &&
                      head.rest.find_first_not_of(" \t", fence) == std::string_view::npos;
    if (!ends) {
        std::size_t const spaces = std::min(line.find_first_not_of(' '), line.size());
        code_ += std::string(line.substr(std::min(spaces, code_indent_))) + "\n";
        return;
    }
    fence_.clear();
    if (code_.ends_with('\n')) code_.pop_back();
    pieces_.push_back({Mark::text, Edge::alone, std::exchange(code_, {}), false});
    add(Mark::code_block, Edge::end);
    has_text_ = false;
}

void Reader::read_line(std::string_view line) {
    if (!fence_.empty()) return read_code(line);
    Head const head = head_of(line);
    if (head.rest.empty()) {
        after_blank_ = true;
        return close_text();
    }
    bool const after_blank = std::exchange(after_blank_, false);
    if (head.marker > 0) return begin_item(head);
    bool const lazy = !lists_.empty() && !after_blank && has_text_;
    while (!lazy && !lists_.empty() && head.indent < lists_.back().content) close_list();
    if (std::size_t const fence = fence_of(head.rest)) return begin_code(head, fence);
    std::size_t const hashes = std::min(head.rest.find_first_not_of('#'), head.rest.size());
    if (hashes >= 1 && hashes <= 6 && hashes < head.rest.size() && head.rest[hashes] == ' ') {
        while (!lists_.empty()) close_list();
        close_text();
        add(Mark::heading, Edge::begin);
        Line(pieces_, head.rest.substr(hashes + 1)).read();
        return add(Mark::heading, Edge::end);
    }
    // In an item a blank line is a break.
    if (!lists_.empty() && after_blank) has_text_ = true;
    read_text(head);
}

std::vector<Piece> Reader::read(std::string_view text) {
    while (!text.empty()) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        read_line(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!fence_.empty()) {
        if (code_.ends_with('\n')) code_.pop_back();
        pieces_.push_back({Mark::text, Edge::alone, code_, false});
        add(Mark::code_block, Edge::end);
    }
    while (!lists_.empty()) close_list();
    close_text();
    return std::move(pieces_);
}

}  // namespace

std::optional<std::vector<Piece>> pieces(std::string_view text) {
    if (text.size() > text_max) return std::nullopt;
    return Reader().read(text);
}

}  // namespace dormouse::markdown
