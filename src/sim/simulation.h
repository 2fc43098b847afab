#pragma once
// One seed: the shipped runner in one process, or in several that share a store, on virtual time
// with clients, faults and kills (safety); then a calm phase, in which everything must become idle
// (liveness); then checks of the journal.

#include "sim/bugs.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dormouse::sim {

struct Settings {
    std::uint64_t seed = 1;
    Bug bug = Bug::none;
    unsigned processes = 0;  // that share the store, at most 3; 0: drawn
    // The disk falls back in each seed with several processes and faults, not only in some.
    bool falls_back = false;
};

struct Report {
    std::uint64_t seed = 0;
    std::string knobs;                  // parameters drawn for the seed
    std::vector<std::string> findings;  // broken promises; empty: none
    std::uint64_t hash = 0;             // of everything that happened: equal for equal seeds
    unsigned processes = 1;
    bool falls_back = false;  // forced
    std::uint64_t kills = 0;
    std::uint64_t sessions = 0;
    std::uint64_t events = 0;
    std::uint64_t requests = 0;
    std::uint64_t acknowledged = 0;
    std::uint64_t effects = 0;
    std::int64_t virtual_ms = 0;
    std::map<std::string, std::uint64_t> types;  // events by type

    // Findings, parameters, and the command to repeat the run; one line each.
    [[nodiscard]] std::string text() const;
};

[[nodiscard]] Report simulate(Settings const& settings);

}  // namespace dormouse::sim
