#include "cli/client/server_clock.h"

#include "base/text/http_date.h"

#include <chrono>

namespace dormouse::cli {

namespace {
// A Date has whole seconds and is up to a second old: clocks that differ less count as equal.
constexpr Duration same{2'000};
constexpr Duration half_a_second{500};
}  // namespace

void ServerClock::set(std::string_view date) {
    auto const there = parse_http_date(date);
    if (!there) return;
    auto const ahead = *there + half_a_second - wall_clock();
    ahead_ = ahead > -same && ahead < same ? Duration(0) : ahead;
}

Time ServerClock::now() const { return wall_clock() + ahead_; }

Time wall_clock() {
    return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace dormouse::cli
