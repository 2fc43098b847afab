#pragma once
// Metrics in OTLP's JSON encoding: sums and histograms are cumulative. Pure.

#include "port/measure.h"
#include "telemetry/otlp.h"

#include <string>
#include <string_view>
#include <vector>

namespace dormouse::telemetry {

// A metric's name and unit at a collector. Names follow the conventions where these have the
// metric; others are those of Prometheus without the suffixes of unit and kind, which a collector
// adds again when it exports to Prometheus.
struct MetricName {
    std::string name;
    std::string_view unit;  // UCUM
    friend bool operator==(MetricName const&, MetricName const&) = default;
};
[[nodiscard]] MetricName metric_name(port::MeasureFamily const& family);
// The attribute of a label: "gen_ai.agent.name" of "agent".
[[nodiscard]] std::string_view attribute_of(std::string_view label);

// The body of a request: an ExportMetricsServiceRequest. `start`: since when it is counted.
[[nodiscard]] std::string metrics_json(Resource const& resource,
                                       std::vector<port::MeasureFamily> const& families, Time start,
                                       Time now);

}  // namespace dormouse::telemetry
