#pragma once
// The state of a connection to a foreign server. A pure state machine: its owner performs the steps
// and reports what happened.

#include "port/world.h"

#include <algorithm>
#include <cstdint>

namespace dormouse::mcp_client {

enum class Phase : std::uint8_t {
    down,          // not begun
    initializing,  // the link is open, `initialize` is sent
    listing,       // the first list of tools is read
    ready,         // calls are sent
    resting,       // it has failed and is tried again later
};

class ConnectionState {
public:
    static constexpr Duration rest_min{1'000};
    static constexpr Duration rest_max{60'000};

    [[nodiscard]] Phase phase() const { return phase_; }
    [[nodiscard]] bool ready() const { return phase_ == Phase::ready; }
    // It has been ready, or has failed, at least once.
    [[nodiscard]] bool settled() const { return settled_; }

    // Each returns false if it does not fit the phase; then nothing changes.
    bool begin() {
        return move(phase_ == Phase::down || phase_ == Phase::resting, Phase::initializing);
    }
    bool initialized() { return move(phase_ == Phase::initializing, Phase::listing); }
    bool listed() {
        if (!move(phase_ == Phase::listing, Phase::ready)) return false;
        settled_ = true;
        return true;
    }
    // Returns how long to rest before the next attempt: after each failure in a row twice as long.
    // A connection that was ready for `rest_max` begins again with the shortest.
    Duration failed(Duration was_ready) {
        if (was_ready >= rest_max) rest_ = rest_min;
        Duration const rest = rest_;
        rest_ = std::min(rest_ * 2, rest_max);
        phase_ = Phase::resting;
        settled_ = true;
        return rest;
    }

private:
    bool move(bool fits, Phase to) {
        if (fits) phase_ = to;
        return fits;
    }

    Phase phase_ = Phase::down;
    bool settled_ = false;
    Duration rest_ = rest_min;
};

}  // namespace dormouse::mcp_client
