#pragma once
// The audit log: lines chained by hash, so that a changed, missing or moved line is found. Its
// beginning may be removed; a later line then holds the hash to which the first remaining line is
// chained (wire/audit.h).

#include "base/crypto/sha256.h"

#include <cstdint>
#include <string>

namespace dormouse::port {

struct AuditRow {
    std::uint64_t n = 0;  // without gaps; from 1, or from after the removed lines
    std::string line;     // a JSON object
    Sha256 hash{};        // chained(hash of line n - 1, n, line)
};

// Several processes that share a store have a chain each: the high 16 bits of a line's number name
// it.
[[nodiscard]] constexpr std::uint64_t audit_chain(std::uint64_t n) { return n >> 48; }
// The largest number that a line of the same chain can have.
[[nodiscard]] constexpr std::uint64_t end_of_chain(std::uint64_t n) {
    return n | ((std::uint64_t{1} << 48) - 1);
}

// SHA-256(before ‖ n as 8 bytes, big-endian ‖ line). Line 1 is chained to 32 zero bytes.
[[nodiscard]] Sha256 chained(Sha256 const& before, std::uint64_t n, std::string_view line);

}  // namespace dormouse::port
