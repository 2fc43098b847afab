#pragma once
// Regular expressions of schemas and typed tools, matched by RE2 in linear time. No other file uses
// RE2.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace dormouse::json {

inline constexpr std::size_t matched_length_max = 65'536;  // of a text that is matched

// An ECMAScript pattern without look-around and back-references, which RE2 does not support. At
// most 1,000 bytes, with a compiled program of at most one mebibyte. Immutable; may be shared by
// threads.
class Pattern {
public:
    explicit Pattern(std::string_view ecmascript);
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    [[nodiscard]] std::string const& error() const { return error_; }  // empty: valid
    // Returns true if a part of `text` matches. REQUIRES: no error (CHECK).
    [[nodiscard]] bool found_in(std::string_view text) const;
    // Upper bound of the microseconds of a search in `bytes`. REQUIRES: no error (CHECK).
    [[nodiscard]] std::size_t steps(std::size_t bytes) const;

private:
    std::unique_ptr<re2::RE2 const> program_;
    std::string error_;
};

// Returns why the pattern does not match any part of `text`; empty: it does. Compiles the pattern
// on each call.
[[nodiscard]] std::string pattern_mismatch(std::string const& pattern, std::string const& text);
// Returns why the pattern is invalid; empty: it is valid.
[[nodiscard]] std::string pattern_error(std::string const& pattern);

}  // namespace dormouse::json
