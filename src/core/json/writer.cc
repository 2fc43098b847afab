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
    char const* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

// Memory in which the next writer of this thread begins: most texts are small, and a text that
// grows from nothing is copied several times.
constexpr std::size_t spare_max = 64UL << 10U;
constexpr std::size_t copied_max = 4UL << 10U;
thread_local std::string spare;

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
    if (out_.empty()) out_.swap(spare);
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
    if (out_.empty()) out_.swap(spare);
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
    append_quoted_between(out_, need_comma_ ? ',' : nothing, key, ':');
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
    if (out_.size() > copied_max) return std::exchange(out_, {});
    std::string out(out_);  // with the memory that it needs
    out_.clear();
    if (out_.capacity() <= spare_max) spare.swap(out_);
    return out;
}

std::string quote(std::string_view text) {
    std::string out;
    out.reserve(text.size() + 2);
    append_quoted(out, text);
    return out;
}

}  // namespace dormouse::json
