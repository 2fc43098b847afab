#include "base/check.h"
#include "json/json.h"
#include "json/spell.h"

#include <array>
#include <charconv>
#include <utility>

namespace dormouse::json {

namespace {

template <class Integer> void append_integer(std::string& out, Integer number) {
    std::array<char, 24> digits;  // the longest is -9223372036854775808
    auto const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    out.append(digits.begin(), end);
}

}  // namespace

// Writes the comma before a value. Inside an object its key has done that.
void Writer::separate() {
    if (have_key_) {
        have_key_ = false;
        return;
    }
    CHECK(open_.empty() ? out_.empty() : open_.back() == '[');
    if (need_comma_) {
        out_ += ',';
    }
}

Writer& Writer::begin_object() {
    separate();
    out_ += '{';
    open_ += '{';
    need_comma_ = false;
    return *this;
}

Writer& Writer::end_object() {
    CHECK(!open_.empty() && open_.back() == '{' && !have_key_);
    open_.pop_back();
    out_ += '}';
    need_comma_ = true;
    return *this;
}

Writer& Writer::begin_array() {
    separate();
    out_ += '[';
    open_ += '[';
    need_comma_ = false;
    return *this;
}

Writer& Writer::end_array() {
    CHECK(!open_.empty() && open_.back() == '[');
    open_.pop_back();
    out_ += ']';
    need_comma_ = true;
    return *this;
}

Writer& Writer::key(std::string_view key) {
    CHECK(!open_.empty() && open_.back() == '{' && !have_key_);
    if (need_comma_) {
        out_ += ',';
    }
    append_quoted(out_, key);
    out_ += ':';
    have_key_ = true;
    need_comma_ = true;
    return *this;
}

Writer& Writer::value(std::string_view text) {
    separate();
    append_quoted(out_, text);
    need_comma_ = true;
    return *this;
}

Writer& Writer::value(std::int64_t number) {
    separate();
    append_integer(out_, number);
    need_comma_ = true;
    return *this;
}

Writer& Writer::value(std::uint64_t number) {
    separate();
    append_integer(out_, number);
    need_comma_ = true;
    return *this;
}

Writer& Writer::value(double number) {
    separate();
    append_double(out_, number);
    need_comma_ = true;
    return *this;
}

Writer& Writer::value(bool truth) { return raw(truth ? "true" : "false"); }

Writer& Writer::null() { return raw("null"); }

// The raw text of an absent view is empty; absent reads as null.
Writer& Writer::raw(std::string_view json) {
    separate();
    out_ += json.empty() ? "null" : json;
    need_comma_ = true;
    return *this;
}

std::string Writer::take() {
    CHECK(open_.empty() && !out_.empty());
    need_comma_ = false;
    return std::exchange(out_, {});
}

std::string quote(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 2);
    append_quoted(out, text);
    return out;
}

}  // namespace dormouse::json
