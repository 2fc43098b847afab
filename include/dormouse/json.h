#pragma once
// Json: JSON text that has been checked, immutable and shared. Sixteen bytes; copying shares the
// text. The text is kept byte for byte as it came (numbers keep their digits, objects their order).

#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

class Json {
public:
    // The JSON value `null`.
    Json() = default;

    // REQUIRES: `text` is one valid JSON value (RFC 8259, UTF-8) without surrounding white space.
    // Outside text goes through json::check() first; only code that has just written or checked the
    // text calls this.
    [[nodiscard]] static Json trusted(std::string text);

    [[nodiscard]] std::string_view text() const {
        return text_ ? std::string_view(*text_) : "null";
    }
    [[nodiscard]] bool is_null() const { return text() == "null"; }
    [[nodiscard]] std::size_t size() const { return text().size(); }

    // Equal texts; values that differ only in spelling (1.0 and 1) are different here.
    friend bool operator==(Json const& a, Json const& b) { return a.text() == b.text(); }

private:
    std::shared_ptr<std::string const> text_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
