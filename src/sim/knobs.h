#pragma once
// What is drawn for each seed before it runs.

#include "sim/agents.h"
#include "sim/store_on_loop.h"

#include <string>

namespace dormouse::sim {

struct Knobs {
    // No fault, no kill: then nothing may wait for the scan, which comes once an hour only.
    bool quiet = false;
    unsigned sessions = 3;
    unsigned prompts = 4;   // of each session
    Duration busy{20'000};  // how long clients ask and faults come
    Duration life{10'000};  // of a process, about; zero: it is never killed
    std::size_t resident = 4'096;
    Duration scan{1'000};
    // What sessions keep at most; 0: all. Messages, age of turns, bytes of the journal.
    unsigned messages = 0;
    Duration age{};
    unsigned bytes = 0;
    bool clock_steps = false;
    bool disk_breaks = false;  // at some time, whoever writes next
    StoreFaults store = {};
    AgentFaults agents = {};

    [[nodiscard]] std::string text() const;
};

[[nodiscard]] Knobs draw_knobs(World& world);

}  // namespace dormouse::sim
