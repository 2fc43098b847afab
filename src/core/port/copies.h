#pragma once
// The state of the continuous copy of the data directory.

#include <dormouse/time.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::port {

struct CopyStatus {
    std::string target;                  // without what could be a secret
    std::optional<Time> copied_at = {};  // the copy has all that was stored by then
    std::uint64_t feed = 0;              // the newest position of the feed in the copy
    std::uint64_t bytes = 0;             // written by this process
    std::uint64_t objects = 0;           // written by this process
    std::uint64_t bases = 0;             // whole copies, begun by this process
    std::uint64_t failures = 0;          // attempts that failed
    std::uint64_t asked = 0;             // requests to copy now
    std::uint64_t answered = 0;          // those after which an attempt has ended
    Duration took{0};                    // the newest increment
    std::string why = {};                // of the newest attempt, if it failed
    std::optional<Time> failing_since = {};
    [[nodiscard]] bool works() const { return why.empty(); }
};

}  // namespace dormouse::port
