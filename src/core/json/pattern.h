#pragma once
// Regular expressions of schemas and typed tools, matched by RE2 in time linear in the text. The
// only place that names RE2.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace dormouse::json {

inline constexpr std::size_t matched_length_max = 65'536;  // bytes of a text that has a pattern

// An ECMAScript pattern without look-around and back-references, which RE2 does not have. At most
// 1,000 bytes, and at most as large a program as fits into a mebibyte. Immutable; threads share it.
class Pattern {
public:
    explicit Pattern(std::string_view ecmascript);
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    [[nodiscard]] std::string const& error() const { return error_; }  // empty: it is a pattern
    // Whether some part of `text` matches. REQUIRES: no error (CHECK).
    [[nodiscard]] bool found_in(std::string_view text) const;
    // Upper bound of the microseconds that a search in `bytes` takes. REQUIRES: no error (CHECK).
    [[nodiscard]] std::size_t steps(std::size_t bytes) const;

private:
    std::unique_ptr<re2::RE2 const> program_;
    std::string error_;
};

// Why `text` does not match the pattern (searched for, as in a schema); empty: it does. Compiles
// the pattern each time.
[[nodiscard]] std::string pattern_mismatch(std::string const& pattern, std::string const& text);
// Why it is no pattern; empty: it is one.
[[nodiscard]] std::string pattern_error(std::string const& pattern);

}  // namespace dormouse::json
