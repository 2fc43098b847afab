#include "cli/bench/measure.h"

#include "base/check.h"
#include "io/fd.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

namespace dormouse::cli {
namespace {

constexpr std::size_t block = 4096;

Outcome<double> timed_write_us(int fd, off_t at, std::array<char, block> const& bytes) {
    auto const start = std::chrono::steady_clock::now();
    bool const written =
        ::pwrite(fd, bytes.data(), bytes.size(), at) == static_cast<ssize_t>(bytes.size());
    if (!written || ::fdatasync(fd) != 0) {
        return failure(status::failed,
                       std::string("cannot write to the disk: ") + std::strerror(errno));
    }
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
}

double ms_of(timeval time) {
    return static_cast<double>(time.tv_sec) * 1000 + static_cast<double>(time.tv_usec) / 1000;
}

bool is_data(std::filesystem::directory_entry const& entry) {
    auto const name = entry.path().filename();
    return entry.is_regular_file() && name != "server.log" && name != "token";
}

}  // namespace

double Samples::percentile(double share) const {
    if (us.empty()) return 0;
    auto sorted = us;
    auto const last = static_cast<double>(sorted.size() - 1);
    auto const index = static_cast<std::size_t>(
        std::clamp(std::ceil(share * static_cast<double>(sorted.size())) - 1, 0.0, last));
    auto const at = sorted.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(sorted.begin(), at, sorted.end());
    return *at;
}

double Samples::rate() const {
    auto const total = std::accumulate(us.begin(), us.end(), 0.0);
    return total == 0 ? 0 : static_cast<double>(us.size()) * 1e6 / total;
}

double median(std::vector<double> values) {
    CHECK(!values.empty());
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

Outcome<void> probe_disk(std::string const& folder, int count, DiskFigures& figures) {
    auto const path = folder + "/disk-probe";
    io::Fd const file(::open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600));
    if (!file.open())
        return failure(status::failed, "cannot write " + path + ": " + std::strerror(errno));
    std::array<char, block> bytes{};
    bytes.fill('x');
    for (int i = 0; i < count; ++i) {
        auto const us = timed_write_us(file.get(), static_cast<off_t>(block) * i, bytes);
        if (!us) return std::unexpected(us.error());
        figures.append.add(*us);
    }
    for (int i = 0; i < count; ++i) {
        bytes[0] = static_cast<char>(i);
        auto const us = timed_write_us(file.get(), 0, bytes);
        if (!us) return std::unexpected(us.error());
        figures.overwrite.add(*us);
    }
    ::unlink(path.c_str());
    return {};
}

ProcessFigures check_process(pid_t pid) {
    ProcessFigures figures;
    auto const folder = "/proc/" + std::to_string(pid);
    std::ifstream status(folder + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmRSS:"))
            figures.rss_mib = std::strtod(line.c_str() + 6, nullptr) / 1024;
    }
    std::ifstream stat(folder + "/stat");
    std::string all;
    std::getline(stat, all);
    auto const name_end = all.rfind(')');  // the name may hold spaces and brackets
    if (name_end == std::string::npos) return figures;
    std::istringstream fields(all.substr(name_end + 1));
    std::string skipped;
    for (int i = 0; i < 11; ++i)
        fields >> skipped;  // proc(5): utime and stime are fields 14 and 15
    double user = 0;
    double system = 0;
    fields >> user >> system;
    figures.cpu_ms = (user + system) * 1000 / static_cast<double>(sysconf(_SC_CLK_TCK));
    return figures;
}

double own_cpu_ms() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return ms_of(usage.ru_utime) + ms_of(usage.ru_stime);
}

std::uint64_t data_bytes(std::string const& folder) {
    std::uint64_t total = 0;
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator(folder, error)) {
        if (is_data(entry)) total += entry.file_size(error);
    }
    return total;
}

void drop_from_cache(std::string const& folder) {
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator(folder, error)) {
        io::Fd const file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.open()) continue;
        fsync(file.get());  // only clean pages can be dropped
        posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
    }
}

}  // namespace dormouse::cli
