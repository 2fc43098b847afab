#pragma once
// The state of the export of traces or metrics to a collector.

#include <dormouse/time.h>

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::port {

struct ExportStatus {
    std::string endpoint;        // without what could be a secret
    std::uint64_t exported = 0;  // spans, or reports of all metrics, that the collector took
    std::uint64_t dropped = 0;   // those that it will never get
    std::uint64_t failures = 0;  // attempts that failed
    std::uint64_t waiting = 0;   // spans in the queue
    std::string why = {};        // of the newest attempt, if it failed
    std::optional<Time> failing_since = {};
    [[nodiscard]] bool works() const { return why.empty(); }
};

}  // namespace dormouse::port
