#pragma once
// Text of JSON that is appended piece by piece, without json::Writer's bookkeeping: it asks for
// memory rarely, and pieces that the compiler knows cost a few stores. Pure.

#include "base/check.h"
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

    // Literals and texts, as they are.
    template <class... Pieces>
    [[gnu::always_inline]] inline JsonText& add(Pieces const&... pieces) {
        reserve((size_of(pieces) + ...));
        // The compiler must assume that a copy of bytes can change a member, but not a local.
        char* to = end_;
        ((to = put(to, pieces)), ...);
        end_ = to;
        return *this;
    }
    // Between quotes, escaped where that is necessary.
    JsonText& add_string(std::string_view text) {
        return json::is_plain(text) ? add("\"", text, "\"") : add(quoted(text));
    }
    JsonText& add_number(std::int64_t number) {
        reserve(digits_max);
        end_ = std::to_chars(end_, end_ + digits_max, number).ptr;
        return *this;
    }
    template <std::size_t size> JsonText& add_hex(std::array<std::uint8_t, size> const& bytes) {
        reserve(2 * size);
        char* to = end_;
        for (std::uint8_t const byte : bytes) {
            std::memcpy(to, hex_digits[byte].data(), 2);
            to += 2;
        }
        end_ = to;
        return *this;
    }
    // REQUIRES: something was added.
    void replace_last(char c) {
        CHECK(size() > 0);
        end_[-1] = c;
    }
    void remove_last() { --end_; }

private:
    using Digits = std::array<std::array<char, 2>, 256>;

    static constexpr Digits hex_digits = [] {
        constexpr std::string_view digits = "0123456789abcdef";
        Digits out{};
        for (std::size_t byte = 0; byte < out.size(); ++byte)
            out[byte] = {digits[byte >> 4U], digits[byte & 0xFU]};
        return out;
    }();
    static constexpr std::size_t digits_max = 24;  // the longest is -9223372036854775808

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end_ - text_.data()); }
    template <std::size_t size> static std::size_t size_of(char const (&)[size]) {
        return size - 1;
    }
    static std::size_t size_of(std::string_view text) { return text.size(); }
    template <std::size_t size>
    [[gnu::always_inline]] static inline char* put(char* to, char const (&piece)[size]) {
        std::memcpy(to, piece, size - 1);
        return to + (size - 1);
    }
    [[gnu::always_inline]] static inline char* put(char* to, std::string_view text) {
        if (!text.empty()) std::memcpy(to, text.data(), text.size());
        return to + text.size();
    }
    [[gnu::always_inline]] inline void reserve(std::size_t more) {
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
