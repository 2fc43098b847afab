#pragma once
// One seed: the shipping runner on virtual time with clients, faults and kills (safety), then calm,
// in which everything must come to rest (liveness), then the journal itself is judged.

#include "sim/bugs.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dormouse::sim {

struct Settings {
    std::uint64_t seed = 1;
    Bug bug = Bug::none;
};

struct Report {
    std::uint64_t seed = 0;
    std::string knobs;                  // what was drawn for the seed
    std::vector<std::string> findings;  // promises that were broken; empty: none
    std::uint64_t hash = 0;             // of all that happened: the same for the same seed
    std::uint64_t kills = 0;
    std::uint64_t sessions = 0;
    std::uint64_t events = 0;
    std::uint64_t requests = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t effects = 0;
    std::int64_t virtual_ms = 0;
    std::map<std::string, std::uint64_t> types;  // events by type

    // Findings, what was drawn, and how to run it again; one line each.
    [[nodiscard]] std::string text() const;
};

[[nodiscard]] Report simulate(Settings const& settings);

}  // namespace dormouse::sim
