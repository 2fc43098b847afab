#pragma once
// Facts about the server that the API reports, known when it starts.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

// One start of the server on this store.
struct Start {
    std::uint64_t epoch = 0;
    Time started = {};
    // When it was last known to run; nullopt: it runs now.
    std::optional<Time> alive = {};
    // It ended by itself; false: it was killed, or the machine stopped. nullopt: it runs now.
    std::optional<bool> clean = {};
};

struct ServerFacts {
    std::string release = {};
    std::string data = {};           // the data directory; empty: the store is in memory
    Json config = {};                // the effective configuration; null: none
    std::vector<Start> starts = {};  // oldest first; the last one is this process
};

}  // namespace dormouse::http
