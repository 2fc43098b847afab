#include "cli/render/render.h"

#include "base/check.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace dormouse::cli {
namespace {

std::string_view code_of(Paint paint) {
    switch (paint) {
        case Paint::plain: return "";
        case Paint::bold: return "\x1b[1m";
        case Paint::dim: return "\x1b[2m";
        case Paint::red: return "\x1b[31m";
        case Paint::green: return "\x1b[32m";
        case Paint::yellow: return "\x1b[33m";
        case Paint::cyan: return "\x1b[36m";
    }
    return "";
}

using Widths = std::vector<std::size_t>;

constexpr std::size_t words_min = 8;  // the minimum width of a column of words
constexpr std::size_t id_min = 11;    // "pnd_AAAAAAG": enough to tell a session from its neighbours

Widths widths_of(std::vector<std::vector<std::string>> const& rows) {
    Widths widths(rows.front().size(), 0);
    for (auto const& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    return widths;
}

std::size_t total(Widths const& widths) {
    std::size_t sum = 2 * (widths.size() - 1);
    for (auto const each : widths) sum += each;
    return sum;
}

// Returns the prefix length at which the ids of this column differ.
std::size_t unique_length(std::vector<std::vector<std::string>> const& rows, std::size_t column) {
    std::vector<std::string_view> ids;
    for (std::size_t r = 1; r < rows.size(); ++r) ids.emplace_back(rows[r][column]);
    std::sort(ids.begin(), ids.end());
    std::size_t length = id_min;
    for (std::size_t i = 1; i < ids.size(); ++i) {
        if (ids[i - 1] == ids[i]) continue;
        auto const [a, b] =
            std::mismatch(ids[i - 1].begin(), ids[i - 1].end(), ids[i].begin(), ids[i].end());
        auto const common = static_cast<std::size_t>(a - ids[i - 1].begin());
        length = std::max(length, common + 1);
    }
    return length;
}

// Returns the suffix length at which the ids differ, at most the random part of an id.
std::size_t unique_ending(std::vector<std::vector<std::string>> const& rows, std::size_t column) {
    constexpr std::size_t ending_min = 5;
    std::vector<std::string> ids;
    for (std::size_t r = 1; r < rows.size(); ++r)
        ids.emplace_back(rows[r][column].rbegin(), rows[r][column].rend());
    std::sort(ids.begin(), ids.end());
    std::size_t length = ending_min;
    for (std::size_t i = 1; i < ids.size(); ++i) {
        if (ids[i - 1] == ids[i]) continue;
        auto const [a, b] =
            std::mismatch(ids[i - 1].begin(), ids[i - 1].end(), ids[i].begin(), ids[i].end());
        length = std::max(length, static_cast<std::size_t>(a - ids[i - 1].begin()) + 1);
    }
    return length;
}

// Cuts the widest of the columns of `kind` until the table fits or none can shrink further.
void cut_words(Widths& widths, std::vector<Narrow> const& narrow, Narrow kind,
               std::size_t terminal) {
    while (total(widths) > terminal) {
        std::size_t widest = widths.size();
        for (std::size_t i = 0; i < widths.size(); ++i) {
            bool const may = narrow[i] == kind && widths[i] > words_min;
            if (may && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
        }
        if (widest == widths.size()) return;
        --widths[widest];
    }
}

// Appends \uXXXX. REQUIRES: a UTF-16 code unit.
void append_unit(std::string& out, char32_t unit) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += digits[(unit >> shift) & 15];
}

}  // namespace

std::string Style::operator()(Paint paint, std::string_view text) const {
    if (!color || paint == Paint::plain || text.empty()) return std::string(text);
    return std::string(code_of(paint)) + std::string(text) + "\x1b[0m";
}

Table::Table(std::vector<Column> columns) {
    auto& head = rows_.emplace_back();
    for (auto& column : columns) {
        head.push_back(std::move(column.head));
        narrow_.push_back(column.narrow);
    }
}

void Table::add(std::vector<std::string> cells, Paint paint) {
    CHECK(cells.size() == narrow_.size());
    for (auto& cell : cells) cell = escape_for_terminal(cell);
    rows_.push_back(std::move(cells));
    paints_.push_back(paint);
}

Table::Rows Table::fitted(std::size_t terminal) const {
    auto rows = rows_;
    auto widths = widths_of(rows);
    if (terminal == 0) return rows;
    for (std::size_t i = 0; i < widths.size() && total(widths) > terminal; ++i) {
        bool const ending = narrow_[i] == Narrow::id_end;
        if (narrow_[i] != Narrow::id && !ending) continue;
        auto const length = ending ? unique_ending(rows, i) : unique_length(rows, i);
        for (std::size_t r = 1; r < rows.size(); ++r) {
            std::string& id = rows[r][i];
            if (id.size() <= length + (ending ? 1 : 0)) continue;
            id = ending ? "…" + id.substr(id.size() - length) : id.substr(0, length);
        }
        widths = widths_of(rows);
    }
    cut_words(widths, narrow_, Narrow::words, terminal);
    cut_words(widths, narrow_, Narrow::last, terminal);
    for (auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = shortened(row[i], widths[i]);
    }
    return rows;
}

std::string Table::text(Style style, std::size_t terminal) const {
    auto const rows = fitted(terminal);
    auto const widths = widths_of(rows);
    std::string out;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line;
        for (std::size_t i = 0; i < rows[r].size(); ++i) {
            auto const& cell = rows[r][i];
            line += cell;
            if (i + 1 < rows[r].size()) line += std::string(widths[i] - width(cell) + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        if (terminal != 0) line = shortened(line, terminal);
        out += style(paints_[r], line) + "\n";
    }
    return out;
}

std::string json_for_terminal(std::string_view json) {
    std::string out;
    out.reserve(json.size());
    while (!json.empty()) {
        auto const next = decode_utf8(json);
        auto const bytes = json.substr(0, next.length);
        json.remove_prefix(next.length);
        // Valid JSON has no control characters except white space between tokens.
        bool const space = next.code < 0x20;
        if (space || escape_for_terminal(bytes) == bytes) {
            out += bytes;
        } else if (next.code < 0x10000) {
            append_unit(out, next.code);
        } else {
            append_unit(out, 0xD7C0 + (next.code >> 10));
            append_unit(out, 0xDC00 + (next.code & 0x3FF));
        }
    }
    return out;
}

std::string in_words(Duration duration) {
    auto const seconds = duration.count() / 1000;
    auto const both = [](std::int64_t big, char const* big_unit, std::int64_t small,
                         char const* small_unit) {
        auto out = std::to_string(big) + " " + big_unit;
        if (small != 0) out += " " + std::to_string(small) + " " + small_unit;
        return out;
    };
    if (duration.count() < 1000) return std::to_string(duration.count()) + " ms";
    if (seconds < 60) return std::to_string(seconds) + " s";
    if (seconds < 3600) return std::to_string(seconds / 60) + " min";
    if (seconds < 86'400) return both(seconds / 3600, "h", seconds / 60 % 60, "min");
    return both(seconds / 86'400, "d", seconds / 3600 % 24, "h");
}

std::string ago(std::int64_t at_ms, Time now) {
    if (at_ms == 0) return "-";
    auto const passed = now - from_ms(at_ms);
    return passed < Duration(1000) ? "just now" : in_words(passed) + " ago";
}

std::string ahead(std::int64_t at_ms, Time now) {
    if (at_ms == 0) return "none";
    auto left = from_ms(at_ms) - now;
    if (left >= Duration(60'000)) left += Duration(30'000);  // 9 min 59 s are 10 min
    return left < Duration(0) ? in_words(-left) + " overdue" : "in " + in_words(left);
}

std::string clock_text(std::int64_t at_ms) {
    std::time_t const seconds = at_ms / 1000;
    std::tm parts{};
    std::array<char, 16> out{};
    if (localtime_r(&seconds, &parts) == nullptr) return "-";
    return {out.data(), std::strftime(out.data(), out.size(), "%H:%M:%S", &parts)};
}

std::string plain(json::View value) {
    if (!value.exists() || value.is_null()) return "-";
    return value.plain();
}

}  // namespace dormouse::cli
