#include "http/resources/operations/exposition.h"

#include "base/text/text.h"

#include <algorithm>
#include <charconv>

namespace dormouse::http {

namespace {

constexpr std::size_t label_max = 200;

std::string number(double value) {
    char text[32];
    auto const end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

// The format escapes backslash, quote and line feed; other control bytes and invalid UTF-8 are not
// allowed.
void append_label(std::string& out, std::string_view value) {
    value = value.substr(0, label_max);
    bool const clean = valid_utf8(value);
    for (char const c : value) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '\n') {
            out += "\\n";
        } else if (c == '\\' || c == '"') {
            out += '\\';
            out += c;
        } else {
            out += byte < 0x20 || byte == 0x7f || (byte > 0x7f && !clean) ? '?' : c;
        }
    }
}

}  // namespace

void Histogram::observe(double value) {
    auto const at = std::ranges::lower_bound(bounds_, value);
    ++in_[static_cast<std::size_t>(at - bounds_.begin())];
    sum_ += value;
}

void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    out_.append("# HELP ").append(name).append(" ").append(help);
    out_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void Exposition::line(std::string_view suffix, std::string const& value, Labels labels) {
    out_.append(name_).append(suffix);
    char before = '{';
    for (auto const& [key, text] : labels) {
        out_ += before;
        out_.append(key).append("=\"");
        append_label(out_, text);
        out_ += '"';
        before = ',';
    }
    if (labels.size() > 0) out_ += '}';
    out_.append(" ").append(value).append("\n");
}

Exposition& Exposition::counter(std::string_view name, std::string_view help) {
    family(name, "counter", help);
    return *this;
}

Exposition& Exposition::gauge(std::string_view name, std::string_view help) {
    family(name, "gauge", help);
    return *this;
}

Exposition& Exposition::sample(std::uint64_t value, Labels labels) {
    line("", std::to_string(value), labels);
    return *this;
}

Exposition& Exposition::sample(double value, Labels labels) {
    line("", number(value), labels);
    return *this;
}

Exposition& Exposition::histogram(std::string_view name, std::string_view help,
                                  Histogram const& values) {
    family(name, "histogram", help);
    std::uint64_t until = 0;
    for (std::size_t i = 0; i < values.in().size(); ++i) {
        until += values.in()[i];
        bool const last = i == values.bounds().size();
        line("_bucket", std::to_string(until),
             {{"le", last ? "+Inf" : number(values.bounds()[i])}});
    }
    line("_sum", number(values.sum()), {});
    line("_count", std::to_string(until), {});
    return *this;
}

}  // namespace dormouse::http
