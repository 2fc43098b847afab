#pragma once
// The audit: lines that are added, each chained to the one before it, so that a line that was
// changed, left out or moved is found. Its beginning may be removed; then a later line of it holds
// the hash that the first one that is left is chained to (wire/audit.h).

#include "base/sha256.h"

#include <cstdint>
#include <string>

namespace dormouse::port {

struct AuditRow {
    std::uint64_t n = 0;  // without gaps; from 1, or from behind what was removed
    std::string line;     // a JSON object
    Sha256 hash{};        // chained(hash of line n - 1, n, line)
};

// SHA-256(before ‖ n as 8 bytes, big-endian ‖ line). Before line 1 stand 32 zero bytes.
[[nodiscard]] Sha256 chained(Sha256 const& before, std::uint64_t n, std::string_view line);

}  // namespace dormouse::port
