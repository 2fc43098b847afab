#pragma once
// The starts of the server on a data directory: a line each in DIR/starts, "EPOCH MILLISECONDS",
// and "end" behind it when the process ended by itself. The file's time of change says when it was
// last known to run. Nothing else depends on the file: without it the starts are unknown.

#include <dormouse/error.h>
#include <dormouse/time.h>

#include "base/scope.h"
#include "port/world.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::io {

struct StartLine {
    std::uint64_t epoch = 0;
    Time started = {};
    std::optional<Time> alive = {};  // nullopt: it runs now
    std::optional<bool> clean = {};  // nullopt: it runs now
};

class Starts {
public:
    static constexpr std::size_t most = 100;  // lines that are kept
    static constexpr Duration every{5'000};   // between two marks of the file

    // Reads the earlier starts and adds this one. Blocks. An error of a file leaves this start
    // alone in the list.
    Starts(std::string const& directory, std::uint64_t epoch, Time now);

    // Oldest first; the last one is this process.
    [[nodiscard]] std::vector<StartLine> const& all() const { return starts_; }
    // Marks the file from now on.
    void keep(port::Loop& loop, port::Clock const& clock);
    // The process ends by itself.
    void end(Time now);

private:
    void mark(Time now) const;
    void write() const;

    std::string const path_;
    std::vector<StartLine> starts_;
    Scope scope_;
};

}  // namespace dormouse::io
