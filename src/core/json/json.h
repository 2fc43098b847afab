#pragma once
// The check for JSON from outside, a view into checked text, and a writer. Checked text is never
// copied into a tree: View walks the text and returns slices of it, so bytes stay unchanged. All
// functions are pure and may be called from any thread.

#include <dormouse/error.h>
#include <dormouse/json.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::json {

inline constexpr std::size_t depth_max = 64;

// One JSON value (RFC 8259): valid UTF-8, nested up to `depth_max`, nothing after it. Errors:
// bad_json (with the offset), bad_number_or_key for duplicate keys, lone surrogates and numbers
// outside the range of double (1e999). Removes surrounding white space; keeps everything else byte
// for byte.
[[nodiscard]] Result<Json> check(std::string_view text);

enum class Kind : std::uint8_t { null, boolean, number, string, array, object };

// A non-owning view of one value inside checked text. The text must outlive the view.
class View {
public:
    View() : text_("null") {}
    // REQUIRES: `text` passed check(), or was written by Writer.
    explicit View(std::string_view text) : text_(text) {}
    explicit View(Json const& json) : text_(json.text()) {}

    [[nodiscard]] Kind kind() const;
    [[nodiscard]] std::string_view raw() const { return text_; }
    [[nodiscard]] Json copy() const { return Json::trusted(std::string(text_)); }
    [[nodiscard]] bool is_null() const { return kind() == Kind::null; }

    // nullopt: another kind of value, or not exactly such a number.
    [[nodiscard]] std::optional<bool> boolean() const;
    [[nodiscard]] std::optional<std::int64_t> integer() const;  // 1, -3, also 1.0 and 1e3
    [[nodiscard]] std::optional<double> number() const;
    [[nodiscard]] std::optional<std::string> string() const;  // escapes decoded, UTF-8

    // Members in order; `key` is decoded. Does nothing unless this is an object.
    void members(std::function<void(std::string_view key, View value)> const& each) const;
    void elements(std::function<void(View value)> const& each) const;
    [[nodiscard]] std::size_t size() const;  // number of members or elements
    // The member `key` of an object; if absent, a view of null with exists() false.
    [[nodiscard]] View operator[](std::string_view key) const;
    [[nodiscard]] bool exists() const { return !text_.empty(); }
    // RFC 6901; if absent, a view with exists() false.
    [[nodiscard]] View at_pointer(std::string_view pointer) const;

    // Return the value, or `fallback` if it is absent, null or of another kind.
    [[nodiscard]] std::string string_or(std::string_view fallback) const;
    // A string's text; other values as JSON.
    [[nodiscard]] std::string plain() const;
    [[nodiscard]] std::int64_t integer_or(std::int64_t fallback) const;
    [[nodiscard]] bool boolean_or(bool fallback) const;

private:
    std::string_view text_;
};

// Writes one JSON text front to back and adds the commas. Misuse (a value without a key in an
// object) is a CHECK. Doubles are written as in ECMAScript; a non-finite one is a CHECK.
class Writer {
public:
    Writer& begin_object();
    Writer& end_object();
    Writer& begin_array();
    Writer& end_array();
    Writer& key(std::string_view key);
    Writer& value(std::string_view text);  // escaped; invalid UTF-8 becomes U+FFFD
    Writer& value(char const* text) { return value(std::string_view(text)); }
    Writer& value(std::string const& text) { return value(std::string_view(text)); }
    Writer& value(std::int64_t number);
    Writer& value(std::uint64_t number);
    Writer& value(int number) { return value(static_cast<std::int64_t>(number)); }
    Writer& value(unsigned number) { return value(static_cast<std::uint64_t>(number)); }
    Writer& value(double number);
    Writer& value(bool truth);
    Writer& value(Json const& json) { return raw(json.text()); }
    Writer& null();
    Writer& raw(std::string_view json);  // REQUIRES: one valid JSON value

    // Key and value in one call.
    template <class T> Writer& member(std::string_view name, T const& v) {
        return key(name).value(v);
    }
    Writer& member_raw(std::string_view name, std::string_view json) { return key(name).raw(json); }
    Writer& member_null(std::string_view name) { return key(name).null(); }
    template <class T> Writer& member(std::string_view name, std::optional<T> const& v) {
        key(name);
        return v ? value(*v) : null();
    }

    [[nodiscard]] std::string_view text() const { return out_; }
    // The finished text; the writer is empty afterwards. REQUIRES: every object and array is
    // closed.
    [[nodiscard]] std::string take();
    [[nodiscard]] Json json() { return Json::trusted(take()); }

private:
    void separate();
    std::string out_;
    std::string open_;  // '{' or '[' for each level
    bool need_comma_ = false;
    bool have_key_ = false;
};

// The same value without white space between tokens; strings and numbers keep their bytes. Applied
// to everything stored, so that a record contains no line break (SSE frames are lines).
[[nodiscard]] Json compact(Json const& value);

// A string as a JSON value, with quotes.
[[nodiscard]] std::string quote(std::string_view text);

// The canonical form of RFC 8785, except that integers keep all digits, also beyond 2^53: 1000000,
// 1000000.0 and 1e6 are equal; 9007199254740993 is not rounded.
[[nodiscard]] std::string canonical(Json const& value);
// The canonical form of {name: value}, or of {} if `value` is null. Receipts hold its digest.
[[nodiscard]] std::string canonical_object(std::string_view name, Json const& value);

}  // namespace dormouse::json
