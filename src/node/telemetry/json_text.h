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
#include <vector>

namespace dormouse::telemetry {

class JsonText {
public:
    JsonText() = default;
    JsonText(JsonText const&) = delete;
    JsonText& operator=(JsonText const&) = delete;
    ~JsonText() = default;

    void clear() { end_ = text_.data(); }
    // Gives its memory back.
    void reset() {
        text_ = {};
        end_ = limit_ = text_.data();
    }
    [[nodiscard]] std::string_view view() const { return {text_.data(), size()}; }
    [[nodiscard]] std::size_t capacity() const { return text_.size(); }

    template <std::size_t size> JsonText& add(char const (&piece)[size]) {
        reserve(size - 1);
        std::memcpy(end_, piece, size - 1);
        end_ += size - 1;
        return *this;
    }
    JsonText& add_text(std::string_view piece) {
        reserve(piece.size());
        if (!piece.empty()) std::memcpy(end_, piece.data(), piece.size());
        end_ += piece.size();
        return *this;
    }
    // Between quotes, escaped where that is necessary.
    JsonText& add_string(std::string_view text) {
        if (!json::is_plain(text)) return add_text(quoted(text));
        return add("\"").add_text(text).add("\"");
    }
    JsonText& add_number(std::int64_t number) {
        reserve(digits_max);
        end_ = std::to_chars(end_, end_ + digits_max, number).ptr;
        return *this;
    }
    template <std::size_t size> JsonText& add_hex(std::array<std::uint8_t, size> const& bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        reserve(2 * size);
        for (std::uint8_t const byte : bytes) {
            *end_++ = digits[byte >> 4U];
            *end_++ = digits[byte & 0xFU];
        }
        return *this;
    }
    // REQUIRES: something was added.
    void replace_last(char c) { end_[-1] = c; }
    void remove_last() { --end_; }

private:
    static constexpr std::size_t digits_max = 24;  // the longest is -9223372036854775808

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - text_.data()); }
    void reserve(std::size_t more) {
        if (static_cast<std::size_t>(limit_ - end_) < more) [[unlikely]]
            grow(more);
    }
    [[gnu::noinline]] void grow(std::size_t more) {
        std::size_t const used = size();
        text_.resize(2 * (used + more));
        end_ = text_.data() + used;
        limit_ = text_.data() + text_.size();
    }
    [[nodiscard]] static std::string quoted(std::string_view text) {
        std::string out;
        json::append_quoted(out, text);
        return out;
    }

    std::vector<char> text_;  // beyond `end_` it means nothing
    char* end_ = nullptr;
    char* limit_ = nullptr;
};

}  // namespace dormouse::telemetry
