// The scanner of View. The text has passed check(), so it is not validated again; the scanner only
// never reads outside the text.

#include "json/json.h"
#include "json/space.h"
#include "json/spell.h"

#include "base/text/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace dormouse::json {

namespace {

char const* skip_spaces(char const* p, char const* end) {
    while (p < end && is_space(*p)) {
        ++p;
    }
    return p;
}

// The first `c` from `p` on, `end` if there is none. memchr reads many bytes in one step.
char const* find(char const* p, char const* end, char c) {
    auto const* const found = std::memchr(p, c, static_cast<std::size_t>(end - p));
    return found ? static_cast<char const*>(found) : end;
}

// Skips from the opening quote at `p` to after the closing one. Reads each byte at most twice.
char const* skip_string(char const* p, char const* end) {
    ++p;
    char const* quote = find(p, end, '"');
    while (quote < end) {
        char const* const backslash = find(p, quote, '\\');
        if (backslash == quote) {
            return quote + 1;
        }
        p = std::min(backslash + 2, end);
        if (p > quote) {
            quote = find(p, end, '"');
        }
    }
    return end;
}

// Skips from the opening bracket at `p` to after its closing one.
char const* skip_container(char const* p, char const* end) {
    std::size_t depth = 0;
    while (p < end) {
        char const c = *p;
        if (c == '"') {
            p = skip_string(p, end);
            continue;
        }
        ++p;
        if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return p;
        }
    }
    return end;
}

char const* skip_value(char const* p, char const* end) {
    if (p < end && *p == '"') {
        return skip_string(p, end);
    }
    if (p < end && (*p == '{' || *p == '[')) {
        return skip_container(p, end);
    }
    while (p < end && *p != ',' && *p != '}' && *p != ']' && !is_space(*p)) {
        ++p;
    }
    return p;
}

// Iterates over the items of an array or the members of an object.
class Cursor {
public:
    // REQUIRES: `container` begins and ends with its brackets.
    explicit Cursor(std::string_view container)
        : p_(container.data() + 1), end_(container.data() + container.size() - 1) {}

    [[nodiscard]] bool done() {
        p_ = skip_spaces(p_, end_);
        return p_ >= end_;
    }

    // The next key between its quotes, still escaped. REQUIRES: !done().
    [[nodiscard]] std::string_view take_key() {
        char const* const begin = p_ + 1;
        p_ = skip_string(p_, end_);
        std::string_view const key(begin, std::max(begin, p_ - 1));
        p_ = skip_spaces(p_, end_);
        p_ = std::min(p_ + 1, end_);  // the colon
        return key;
    }

    // The next value and the comma after it.
    [[nodiscard]] std::string_view take_value() {
        char const* const begin = skip_spaces(p_, end_);
        p_ = skip_value(begin, end_);
        std::string_view const value(begin, p_);
        p_ = skip_spaces(p_, end_);
        p_ = std::min(p_ + 1, end_);
        return value;
    }

private:
    char const* p_;
    char const* end_;
};

bool escaped(std::string_view body) { return body.find('\\') != std::string_view::npos; }

std::optional<std::string> decode_token(std::string_view token) {
    std::string out;
    out.reserve(token.size());
    for (std::size_t i = 0; i < token.size(); ++i) {
        if (token[i] != '~') {
            out += token[i];
            continue;
        }
        ++i;
        if (i == token.size() || (token[i] != '0' && token[i] != '1')) {
            return std::nullopt;
        }
        out += token[i] == '0' ? '~' : '/';
    }
    return out;
}

View element(std::string_view array, std::uint64_t index) {
    for (Cursor cursor(array); !cursor.done();) {
        std::string_view const value = cursor.take_value();
        if (index-- == 0) {
            return View(value);
        }
    }
    return View(std::string_view());
}

// One step of a JSON pointer.
View child(View parent, std::string_view token) {
    if (parent.kind() == Kind::array) {
        auto const index = parse_number(token);
        return index ? element(parent.raw(), *index) : View(std::string_view());
    }
    auto const key = decode_token(token);
    return key ? parent[*key] : View(std::string_view());
}

}  // namespace

Kind View::kind() const {
    switch (text_.empty() ? 'n' : text_.front()) {
        case 'n': return Kind::null;
        case 't':
        case 'f': return Kind::boolean;
        case '"': return Kind::string;
        case '[': return Kind::array;
        case '{': return Kind::object;
        default: return Kind::number;
    }
}

std::optional<bool> View::boolean() const {
    return kind() == Kind::boolean ? std::optional(text_ == "true") : std::nullopt;
}

std::optional<std::int64_t> View::integer() const {
    if (kind() != Kind::number) {
        return std::nullopt;
    }
    std::int64_t integer = 0;
    char const* const end = text_.data() + text_.size();
    auto const whole = std::from_chars(text_.data(), end, integer);
    if (whole.ec == std::errc() && whole.ptr == end) {
        return integer;
    }
    Decimal const exact = parse_decimal(text_);
    if (!exact.is_integer() || exact.point > 19) {
        return std::nullopt;
    }
    if (exact.digits.empty()) {
        return 0;
    }
    std::string digits = exact.negative ? "-" : "";
    digits += exact.digits;
    digits.append(static_cast<std::size_t>(exact.point) - exact.digits.size(), '0');
    auto const parsed = std::from_chars(digits.data(), digits.data() + digits.size(), integer);
    return parsed.ec == std::errc() ? std::optional(integer) : std::nullopt;
}

std::optional<double> View::number() const {
    return kind() == Kind::number ? std::optional(to_double(text_)) : std::nullopt;
}

std::optional<std::string> View::string() const {
    if (kind() != Kind::string || text_.size() < 2) {
        return std::nullopt;
    }
    return unescape(text_.substr(1, text_.size() - 2));
}

void View::members(std::function<void(std::string_view, View)> const& each) const {
    if (kind() != Kind::object) {
        return;
    }
    for (Cursor cursor(text_); !cursor.done();) {
        std::string_view const key = cursor.take_key();
        View const value(cursor.take_value());
        if (escaped(key)) {
            each(unescape(key), value);
        } else {
            each(key, value);
        }
    }
}

void View::elements(std::function<void(View)> const& each) const {
    if (kind() != Kind::array) {
        return;
    }
    for (Cursor cursor(text_); !cursor.done();) {
        each(View(cursor.take_value()));
    }
}

std::size_t View::size() const {
    std::size_t count = 0;
    bool const object = kind() == Kind::object;
    if (!object && kind() != Kind::array) {
        return 0;
    }
    for (Cursor cursor(text_); !cursor.done(); ++count) {
        if (object) {
            static_cast<void>(cursor.take_key());
        }
        static_cast<void>(cursor.take_value());
    }
    return count;
}

View View::operator[](std::string_view key) const {
    if (kind() == Kind::object) {
        for (Cursor cursor(text_); !cursor.done();) {
            std::string_view const spelled = cursor.take_key();
            std::string_view const value = cursor.take_value();
            if (escaped(spelled) ? unescape(spelled) == key : spelled == key) {
                return View(value);
            }
        }
    }
    return View(std::string_view());
}

View View::at_pointer(std::string_view pointer) const {
    View here = *this;
    while (!pointer.empty() && here.exists()) {
        if (pointer.front() != '/') {
            return View(std::string_view());
        }
        std::size_t const end = std::min(pointer.find('/', 1), pointer.size());
        here = child(here, pointer.substr(1, end - 1));
        pointer.remove_prefix(end);
    }
    return here;
}

std::string View::plain() const {
    auto text = string();
    return text ? *std::move(text) : std::string(raw());
}

std::string View::string_or(std::string_view fallback) const {
    auto text = string();
    return text ? std::move(*text) : std::string(fallback);
}

std::int64_t View::integer_or(std::int64_t fallback) const { return integer().value_or(fallback); }

bool View::boolean_or(bool fallback) const { return boolean().value_or(fallback); }

}  // namespace dormouse::json
