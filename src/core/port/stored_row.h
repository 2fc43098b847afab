#pragma once
// Shared by the stores on disk: the form of numbers, digests and lists of names in rows, and the
// detection of damaged rows.

#include "base/check.h"
#include "port/store_rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::port {

inline constexpr int seq_bits = 24;
inline constexpr Seq seq_end = Seq{1} << seq_bits;  // the first that does not fit
inline constexpr std::size_t key_size_max = 64;

// A place in a session as one number. REQUIRES: seq < seq_end.
[[nodiscard]] constexpr std::int64_t key_of(std::uint64_t number, Seq seq) {
    CHECK(seq < seq_end);
    return static_cast<std::int64_t>(number << seq_bits | seq);
}

// Detects damage to any row but a frame: the first 32 bits of SHA-256 over two numbers that
// identify the row (big-endian, 8 bytes each) and its bytes. For a frame see stamp_of().
[[nodiscard]] std::int64_t checksum(std::int64_t place, std::int64_t detail,
                                    std::string_view bytes);

// nullopt: another length.
[[nodiscard]] std::optional<Sha256> digest_of(std::string_view bytes);
// Zeros for bytes of another length; they match no key and no digest.
[[nodiscard]] Bits128 bits_of(std::string_view bytes);
// Each name ends with a line break.
[[nodiscard]] std::vector<std::string> names_of(std::string_view lines);

// A statement under its name.
template <class Name> struct Named {
    Name name;
    char const* text;
};

// Returns the texts only; compiles only if the entries are in the order of their enumeration.
template <class Name, std::size_t size>
consteval std::array<char const*, size> in_order(Named<Name> const (&entries)[size]) {
    std::array<char const*, size> texts{};
    for (std::size_t i = 0; i < size; ++i) {
        if (static_cast<std::size_t>(entries[i].name) != i) throw "out of order";
        texts[i] = entries[i].text;
    }
    return texts;
}

}  // namespace dormouse::port
