#pragma once
// A time limit for a command that waits, together with Ctrl-C, as one file descriptor.

#include <dormouse/time.h>

#include "cli/client/interrupts.h"
#include "io/fd.h"

#include <optional>

namespace dormouse::cli {

class Patience {
public:
    // `interrupts` outlives this. nullopt: no limit.
    Patience(Interrupts const& interrupts, std::optional<Duration> limit);

    // The time begins now.
    void begin() const;
    // Readable after Ctrl-C and when the time is over.
    [[nodiscard]] int fd() const { return either_.get(); }
    [[nodiscard]] bool is_over() const;

private:
    std::optional<Duration> limit_;
    io::Fd timer_;
    io::Fd either_;
};

}  // namespace dormouse::cli
