#pragma once
// Parameters drawn for each seed before it runs.

#include "sim/agents.h"
#include "sim/store_on_loop.h"

#include <string>

namespace dormouse::sim {

struct Knobs {
    // Without faults and kills. Nothing in a single process may then depend on the scan, which runs
    // only once an hour.
    bool quiet = false;
    unsigned sessions = 3;
    unsigned prompts = 4;   // of each session
    Duration busy{20'000};  // how long clients send requests and faults occur
    Duration life{10'000};  // approximate lifetime of a process; zero: it is not killed
    std::size_t resident = 4'096;
    Duration resident_time{10'000};
    Duration scan{1'000};
    // Retention limits of sessions: messages, age of turns, bytes of the journal; 0: none.
    unsigned messages = 0;
    Duration age{};
    unsigned bytes = 0;
    unsigned processes = 1;  // that share the disk
    // Settings of each process, if there are several:
    bool freezes = false;       // sometimes, for 0.1 s to 60 s
    bool cuts = false;          // from the store, sometimes, for up to 20 s
    unsigned beats_failed = 0;  // heartbeats, in per mille
    unsigned signals_lost = 0;  // by which they say that they have appended, in per mille
    Duration signals_late{};    // the most that another one takes
    Duration clocks_apart{};    // the most that a wall clock is wrong
    bool falls_back = false;    // the disk, sometimes, by up to 4 s
    bool notices_fall = true;   // by the feed; else by heads and stamps alone
    bool clock_steps = false;
    bool disk_breaks = false;  // at a random time the next write fails for good
    StoreFaults store = {};
    AgentFaults agents = {};

    [[nodiscard]] std::string text() const;
};

// `processes`: 0: drawn. `falls_back`: the disk falls back wherever it may. Draws the same for both
// values.
[[nodiscard]] Knobs draw_knobs(World& world, unsigned processes, bool falls_back);

}  // namespace dormouse::sim
