#pragma once
// Json: checked JSON text, immutable and shared. Sixteen bytes; a copy shares the text. The text is
// kept byte for byte (numbers keep their digits, objects their member order).

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

struct Error;

class Json {
public:
    // The JSON value `null`.
    Json() = default;

    // Checks `text` and keeps it without the white space around it. The text must be one JSON value
    // (RFC 8259) in UTF-8, nested at most 64 deep, without duplicate keys in an object, and without
    // a number that a double cannot hold. Errors: bad_json, bad_number_or_key.
    [[nodiscard]] static std::expected<Json, Error> parse(std::string_view text);

    // Checks nothing. REQUIRES: parse() would accept `text`, and no white space is around it. Only
    // for text that the caller generated; other text goes through parse().
    [[nodiscard]] static Json trusted(std::string text);

    [[nodiscard]] std::string_view text() const {
        return text_ ? std::string_view(*text_) : "null";
    }
    [[nodiscard]] bool is_null() const { return text() == "null"; }
    [[nodiscard]] std::size_t size() const { return text().size(); }

    // Compares the texts: values that differ only in spelling (1.0 and 1) are not equal.
    friend bool operator==(Json const& a, Json const& b) { return a.text() == b.text(); }

private:
    std::shared_ptr<std::string const> text_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop

#include <dormouse/error.h>  // Error holds a Json, so it comes after
