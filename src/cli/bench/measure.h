#pragma once
// Measurements of `bench`: samples, the speed of the disk, the memory and CPU time of a process,
// the bytes in a folder.

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
    // Returns the smallest sample that is at least as large as `share` (0..1) of all; 0 without
    // samples.
    [[nodiscard]] double percentile(double share) const;
    [[nodiscard]] double p50() const { return percentile(0.5); }
    [[nodiscard]] double p99() const { return percentile(0.99); }
    // Returns samples per second if they ran one after the other.
    [[nodiscard]] double rate() const;
};

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Returns the median (the lower one of two). REQUIRES: `values` is not empty.
[[nodiscard]] double median(std::vector<double> values);

// Times of fdatasync of 4 KiB: repeatedly at the same offset, and at the end of a growing file.
struct DiskFigures {
    Samples overwrite;
    Samples append;
};
// Adds `count` samples of each kind, in a temporary file in `folder`.
[[nodiscard]] Outcome<void> probe_disk(std::string const& folder, int count, DiskFigures& figures);

struct ProcessFigures {
    double rss_mib = 0;
    double cpu_ms = 0;  // user and system since its start; steps of 10 ms
};
[[nodiscard]] ProcessFigures check_process(pid_t pid);
// Returns the CPU time of this process so far.
[[nodiscard]] double own_cpu_ms();

// Returns the bytes of the data files in `folder`: all files except the log and the token.
[[nodiscard]] std::uint64_t data_bytes(std::string const& folder);
// Asks the kernel to drop its page cache of the files in `folder`, so that the next start reads the
// disk.
void drop_from_cache(std::string const& folder);

}  // namespace dormouse::cli
