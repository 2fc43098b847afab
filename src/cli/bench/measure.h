#pragma once
// What `bench` measures with: samples, the disk's own speed, a process's memory and time, a
// folder's bytes.

#include "cli/client/failure.h"

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace dormouse::cli {

// Durations in microseconds.
struct Samples {
    std::vector<double> us;

    void add(double sample_us) { us.push_back(sample_us); }
    // The smallest sample that `share` (0..1) of all do not exceed; 0 without samples.
    [[nodiscard]] double percentile(double share) const;
    [[nodiscard]] double p50() const { return percentile(0.5); }
    [[nodiscard]] double p99() const { return percentile(0.99); }
    // Samples a second if they came one after the other.
    [[nodiscard]] double rate() const;
};

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The middle of `values` (the lower one of two); REQUIRES: not empty.
[[nodiscard]] double median(std::vector<double> values);

// fdatasync of 4 KiB, over and over in the same place, and at the end of a growing file.
struct DiskFigures {
    Samples overwrite;
    Samples append;
};
// Adds `count` samples of each, in a file of its own in `folder`.
[[nodiscard]] Outcome<void> probe_disk(std::string const& folder, int count, DiskFigures& figures);

struct ProcessFigures {
    double rss_mib = 0;
    double cpu_ms = 0;  // user and system since its start; steps of 10 ms
};
[[nodiscard]] ProcessFigures look_at_process(pid_t pid);
// CPU time of this process so far.
[[nodiscard]] double own_cpu_ms();

// Bytes of the data files in `folder`: everything but the log and the token.
[[nodiscard]] std::uint64_t data_bytes(std::string const& folder);
// Asks the kernel to forget its cached copy of the files in `folder`, so that the next start reads
// the disk.
void drop_from_cache(std::string const& folder);

}  // namespace dormouse::cli
