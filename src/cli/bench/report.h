#pragma once
// Writes the figures of `bench` as Markdown tables and as JSON. Pure.

#include "cli/bench/rest.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::cli {

struct BenchReport {
    int rounds = 1;
    DiskFigures disk;
    std::vector<JobFigures> jobs;  // one for each number of connections
    std::optional<DormantFigures> dormant = {};
    std::optional<GrowthFigures> growth = {};
};

[[nodiscard]] std::string report_text(BenchReport const& report);
[[nodiscard]] Json report_json(BenchReport const& report);

}  // namespace dormouse::cli
