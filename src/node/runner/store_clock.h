#pragma once
// The clock of a store that several processes use, as one of them measures it with its heartbeats.
// Pure: the processes agree on the time, whatever the clocks of their machines are set to.

#include <dormouse/time.h>

#include <cstddef>
#include <deque>

namespace dormouse::runner {

class StoreClock {
public:
    static constexpr std::size_t kept = 16;  // round trips: a step counts after 16 s at the latest

    // The store read its clock as `time` between `sent` and `received`, both of the same clock of
    // this machine. Returns what the store's clock showed when this machine's was 0: in the middle
    // of the shortest of the newest round trips, so it is wrong by half of that at most.
    [[nodiscard]] Time measured(Duration sent, Duration received, Time time);

private:
    struct Sample {
        Duration trip{};
        Time at_zero{};
    };

    std::deque<Sample> samples_;  // the newest last
};

}  // namespace dormouse::runner
