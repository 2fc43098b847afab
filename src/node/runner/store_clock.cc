#include "runner/store_clock.h"

#include <algorithm>

namespace dormouse::runner {

Time StoreClock::measured(Duration sent, Duration received, Time time) {
    auto const trip = received - sent;
    samples_.push_back({trip, time - (sent + trip / 2)});
    if (samples_.size() > kept) samples_.pop_front();
    // The newest of equally short trips is taken, because the clocks drift.
    return std::ranges::min_element(samples_.rbegin(), samples_.rend(), {}, &Sample::trip)->at_zero;
}

}  // namespace dormouse::runner
