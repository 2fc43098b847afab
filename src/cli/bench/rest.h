#pragma once
// Measures what sleeping sessions cost (`bench --dormant`) and how one long session grows (`bench
// --growth`).

#include "cli/bench/job.h"
#include "cli/client/child.h"
#include "json/json.h"

#include <functional>
#include <optional>
#include <string>

namespace dormouse::cli {

// Called with one line of progress for the user.
using Progress = std::function<void(std::string const&)>;

struct DormantFigures {
    std::int64_t sessions = 0;
    double load_per_s = 0;    // sessions put to sleep per second, over HTTP
    std::uint64_t bytes = 0;  // of all data files after SIGTERM
    double bytes_each = 0;
    double ready_ms = 0;       // from process start to the ready line; files dropped from the cache
    double rss_mib = 0;        // at the ready line
    double asleep_cpu_ms = 0;  // over `asleep_s`
    double asleep_s = 0;
    double next_expiry_us = 0;   // doctor's lookup of the next expiry, over HTTP; median
    double killed_ready_ms = 0;  // from start to ready after SIGKILL under load
    std::int64_t jobs_before_kill = 0;
    std::size_t checked = 0;  // sleepers read back at the end; all must still sleep
};
[[nodiscard]] Outcome<DormantFigures> measure_dormant(std::string const& folder,
                                                      std::int64_t sessions,
                                                      Progress const& progress);

struct GrowthFigures {
    int turns = 0;
    std::uint64_t content_bytes =
        0;                         // text of prompts, results and answers, as the server shows them
    std::uint64_t file_bytes = 0;  // after SIGTERM
    [[nodiscard]] double factor() const {
        return static_cast<double>(file_bytes) / static_cast<double>(content_bytes);
    }
};
[[nodiscard]] Outcome<GrowthFigures> measure_growth(std::string const& folder);
// Returns the bytes of text parts and tool outputs in a page of messages. Pure.
[[nodiscard]] std::uint64_t content_bytes(json::View messages);

// Returns the address and token of `server`.
[[nodiscard]] Outcome<JobTarget> target_of(ChildServer const& server);
[[nodiscard]] Outcome<ChildServer> start_server(std::string const& folder);

}  // namespace dormouse::cli
