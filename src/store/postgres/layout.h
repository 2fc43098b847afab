#pragma once
// The numbers in the rows (tables.cc).

#include "port/store_rows.h"

#include <cstdint>
#include <string_view>

namespace dormouse::store::postgres {

inline constexpr int seq_bits = 24;
inline constexpr Seq seq_end = Seq{1} << seq_bits;  // the first that does not fit
inline constexpr std::size_t key_size_max = 64;

[[nodiscard]] inline std::int64_t number_of(SessionId session) {
    return static_cast<std::int64_t>(session.number());
}
// A place in a session, for checksums. REQUIRES: seq < seq_end.
[[nodiscard]] constexpr std::int64_t key_of(std::uint64_t number, Seq seq) {
    return static_cast<std::int64_t>(number << seq_bits | seq);
}

// Detects damage to any row but a frame: the first 32 bits of SHA-256 over two numbers that
// identify the row (big-endian, 8 bytes each) and its bytes. As in the SQLite store.
[[nodiscard]] std::int64_t checksum(std::int64_t place, std::int64_t detail,
                                    std::string_view bytes);

}  // namespace dormouse::store::postgres
