#pragma once
// The state of archiving by a server.

#include <dormouse/time.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::port {

// Counters are of this process.
struct ArchiveStatus {
    std::string directory;
    std::optional<Time> swept_at = {};  // the end of the newest sweep that worked
    std::uint64_t sessions = 0;         // written to files
    std::uint64_t bytes = 0;            // of these files
    std::uint64_t deleted = 0;          // from the store
    std::uint64_t left = 0;             // of the newest sweep: old enough, but could not be moved
    std::uint64_t failures = 0;         // sweeps that failed
    std::string why = {};               // of the newest sweep, if it failed
    [[nodiscard]] bool works() const { return why.empty(); }
};

}  // namespace dormouse::port
