#pragma once
// The server's clock, as its replies show it: times such as "in 2 h" are right on a machine whose
// own clock is wrong.

#include <dormouse/time.h>

#include <string_view>

namespace dormouse::cli {

class ServerClock {
public:
    // `date`: the header Date of a reply that comes now. Ignored if it is no time.
    void set(std::string_view date);
    // This machine's time until a reply has come.
    [[nodiscard]] Time now() const;

private:
    Duration ahead_{0};  // of this machine's clock
};

// This machine's clock.
[[nodiscard]] Time wall_clock();

}  // namespace dormouse::cli
