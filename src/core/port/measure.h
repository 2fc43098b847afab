#pragma once
// Metrics as values: what GET /metrics shows, and what is sent to a collector.

#include "port/world.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::port {

enum class MeasureKind : std::uint8_t { counter, gauge, histogram };

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Measurement {
    Labels labels = {};
    std::variant<std::uint64_t, double> value;
};

// A distribution since the start of the process.
struct Distribution {
    std::vector<double> bounds = {};         // ascending upper bounds
    std::vector<std::uint64_t> counts = {};  // of each bucket; the last one is above all bounds
    double sum = 0;
    Labels labels = {};
};

// All values of one metric.
struct MeasureFamily {
    std::string_view name;  // as Prometheus has it
    std::string_view help;
    MeasureKind kind = MeasureKind::gauge;
    std::vector<Measurement> values = {};
    std::vector<Distribution> distributions = {};  // of a histogram
};

// Collects the values of this process. On the loop.
struct MeasureSource {
    Time start{};  // of what is counted
    std::function<void(Fn<void(std::vector<MeasureFamily>)> done)> collect;
};

}  // namespace dormouse::port
