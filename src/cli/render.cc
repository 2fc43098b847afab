#include "cli/render.h"

#include "base/check.h"
#include "base/text.h"

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

// The name of a member or the dash of an element with nothing under it is on one line with its
// value.
bool has_lines(json::View value) {
    auto const kind = value.kind();
    return (kind == json::Kind::object || kind == json::Kind::array) && value.size() > 0;
}

void outline_into(std::string& out, json::View value, std::size_t depth);

void outline_member(std::string& out, std::string const& name, json::View value,
                    std::size_t depth) {
    out += std::string(depth * 2, ' ') + name;
    if (has_lines(value)) {
        out += "\n";
        outline_into(out, value, depth + 1);
    } else {
        out += " " + escape_for_terminal(plain(value)) + "\n";
    }
}

void outline_into(std::string& out, json::View value, std::size_t depth) {
    if (value.kind() == json::Kind::object) {
        value.members([&](std::string_view key, json::View member) {
            outline_member(out, escape_for_terminal(key) + ":", member, depth);
        });
    } else if (value.kind() == json::Kind::array) {
        value.elements([&](json::View element) {
            if (!has_lines(element)) return outline_member(out, "-", element, depth);
            std::string inner;
            outline_into(inner, element, depth + 1);
            inner.replace(depth * 2, 2, "- ");  // the dash stands where the first line is indented
            out += inner;
        });
    } else {
        out += std::string(depth * 2, ' ') + escape_for_terminal(plain(value)) + "\n";
    }
}

}  // namespace

std::string Style::operator()(Paint paint, std::string_view text) const {
    if (!color || paint == Paint::plain || text.empty()) return std::string(text);
    return std::string(code_of(paint)) + std::string(text) + "\x1b[0m";
}

void Table::add(std::vector<std::string> cells, Paint paint) {
    CHECK(cells.size() == rows_.front().size());
    for (auto& cell : cells) cell = escape_for_terminal(cell);
    rows_.push_back(std::move(cells));
    paints_.push_back(paint);
}

std::string Table::text(Style style) const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (auto const& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string out;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string line;
        for (std::size_t i = 0; i < rows_[r].size(); ++i) {
            auto const& cell = rows_[r][i];
            line += cell;
            if (i + 1 < rows_[r].size()) line += std::string(widths[i] - width(cell) + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += style(paints_[r], line) + "\n";
    }
    return out;
}

std::size_t width(std::string_view text) {
    auto const starts_character = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (width(text) <= columns) return std::string(text);
    std::string out;
    std::size_t used = 0;
    for (char const c : text) {
        bool const starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        if (starts && ++used >= columns) break;
        out += c;
    }
    return out + "…";
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
    auto const left = from_ms(at_ms) - now;
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
    if (auto text = value.string()) return *text;
    return std::string(value.raw());
}

std::string outline(json::View value) {
    std::string out;
    outline_into(out, value, 0);
    return out;
}

}  // namespace dormouse::cli
