#pragma once
// Text of JSON that is appended piece by piece, without json::Writer's bookkeeping: it asks for
// memory rarely, and pieces that the compiler knows cost a few stores. Pure.

#include "json/spell.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace dormouse::telemetry {

class JsonText {
public:
    void clear() { used_ = 0; }
    [[nodiscard]] std::string_view view() const { return std::string_view(text_).substr(0, used_); }
    [[nodiscard]] std::size_t capacity() const { return text_.size(); }

    template <std::size_t size> JsonText& add(char const (&piece)[size]) {
        std::memcpy(room(size - 1), piece, size - 1);
        used_ += size - 1;
        return *this;
    }
    JsonText& add_text(std::string_view piece) {
        std::memcpy(room(piece.size()), piece.data(), piece.size());
        used_ += piece.size();
        return *this;
    }
    // Between quotes, escaped where that is necessary.
    JsonText& add_string(std::string_view text) {
        if (!json::is_plain(text)) return add_text(quoted(text));
        return add("\"").add_text(text).add("\"");
    }
    JsonText& add_number(std::int64_t number) {
        char* const to = room(digits_max);
        used_ += static_cast<std::size_t>(std::to_chars(to, to + digits_max, number).ptr - to);
        return *this;
    }
    template <std::size_t size> JsonText& add_hex(std::array<std::uint8_t, size> const& bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        char* to = room(2 * size);
        for (std::uint8_t const byte : bytes) {
            *to++ = digits[byte >> 4U];
            *to++ = digits[byte & 0xFU];
        }
        used_ += 2 * size;
        return *this;
    }
    // REQUIRES: something was added.
    void replace_last(char c) { text_[used_ - 1] = c; }
    void remove_last() { --used_; }

private:
    static constexpr std::size_t digits_max = 24;  // the longest is -9223372036854775808

    char* room(std::size_t more) {
        if (text_.size() - used_ < more) text_.resize(2 * (used_ + more));
        return text_.data() + used_;
    }
    [[nodiscard]] static std::string quoted(std::string_view text) {
        std::string out;
        json::append_quoted(out, text);
        return out;
    }

    std::string text_;  // beyond `used_` it means nothing
    std::size_t used_ = 0;
};

}  // namespace dormouse::telemetry
