#pragma once
// The numbers in the file's layout (schema.cc has the tables).
//
// A frame's key combines its session's number and its first sequence number in one integer. So the
// journal is one table in the order of use and needs no index. It has 40 bits for the session's
// number and 24 bits for the sequence number. SQLite's integers are signed, so the highest bit of
// the session's number stays unused.

#include "port/stored_row.h"

#include <cstdint>
#include <string_view>

namespace dormouse::store::sqlite {

using port::checksum;
using port::key_of;
using port::key_size_max;
using port::seq_bits;
using port::seq_end;

inline constexpr std::uint64_t number_end = std::uint64_t{1} << 39;  // the first that does not fit

[[nodiscard]] constexpr Seq seq_of(std::int64_t key) {
    return static_cast<Seq>(key) & (seq_end - 1);
}

// A frame's checksum is its stamp. Releases up to 0.1 stored the stamp's first 32 bits: then the
// stamp is computed from the frame.
[[nodiscard]] constexpr std::int64_t frame_sum(port::Stamp stamp) {
    return static_cast<std::int64_t>(stamp);
}
[[nodiscard]] constexpr bool is_short_sum(std::int64_t sum) { return sum >= 0 && sum >> 32 == 0; }
[[nodiscard]] constexpr bool is_frame_sum(std::int64_t sum, port::Stamp stamp) {
    auto const all = static_cast<std::uint64_t>(stamp);
    return sum == frame_sum(stamp) || static_cast<std::uint64_t>(sum) == all >> 32;
}

// The newest frame by its row. `bytes` is used only if the checksum is short.
[[nodiscard]] port::NewestFrame newest_frame(SessionId session, std::int64_t key, std::int64_t n,
                                             std::int64_t sum, std::string_view bytes);

}  // namespace dormouse::store::sqlite
