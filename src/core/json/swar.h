#pragma once
// Processes eight bytes at a time: finds the byte that ends a run in about one step for eight
// bytes, without an instruction set extension.

#include "base/check.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dormouse::json {

// Each function returns 0x80 in matching bytes. Bytes after the first match may be marked wrongly
// (by a borrow), so only the first mark counts.
class EightBytes {
public:
    // REQUIRES: eight readable bytes at `from`.
    explicit EightBytes(char const* from) {
        std::memcpy(&bytes_, from, sizeof bytes_);
        if constexpr (std::endian::native == std::endian::big) {
            bytes_ = __builtin_bswap64(bytes_);
        }
    }
    [[nodiscard]] std::uint64_t equal(char c) const {
        std::uint64_t const x = bytes_ ^ each * static_cast<std::uint8_t>(c);
        return (x - each) & ~x & high;
    }
    // REQUIRES: limit <= 0x80.
    [[nodiscard]] std::uint64_t below(std::uint8_t limit) const {
        CHECK(limit <= 0x80);
        return (bytes_ - each * limit) & ~bytes_ & high;
    }
    [[nodiscard]] std::uint64_t not_ascii() const { return bytes_ & high; }

    // Index of the first marked byte, 8 if none.
    [[nodiscard]] static std::size_t first(std::uint64_t marks) {
        return static_cast<std::size_t>(std::countr_zero(marks)) / 8;
    }

private:
    static constexpr std::uint64_t each = 0x0101010101010101;
    static constexpr std::uint64_t high = 0x8080808080808080;
    std::uint64_t bytes_;
};

}  // namespace dormouse::json
