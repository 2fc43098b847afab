#include "io/starts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

namespace dormouse::io {

namespace {

constexpr std::int64_t ms_of_second = 1'000;
constexpr std::int64_t ns_of_ms = 1'000'000;

std::optional<Time> changed(std::string const& path) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0) return std::nullopt;
    return from_ms(found.st_mtim.tv_sec * ms_of_second + found.st_mtim.tv_nsec / ns_of_ms);
}

// The lines that are valid.
std::vector<StartLine> read(std::string const& path) {
    std::vector<StartLine> out;
    std::ifstream file(path);
    std::string text;
    while (out.size() < Starts::most * 2 && std::getline(file, text)) {
        std::istringstream line(text);
        std::uint64_t epoch = 0;
        std::int64_t started = 0;
        std::int64_t alive = 0;
        std::string how;
        if (!(line >> epoch >> started)) continue;
        StartLine one{.epoch = epoch, .started = from_ms(started)};
        if (line >> alive) one.alive = from_ms(alive);
        one.clean = (line >> how) && how == "end";
        out.push_back(one);
    }
    return out;
}

}  // namespace

Starts::Starts(std::string const& directory, std::uint64_t epoch, Time now)
    : path_(directory.empty() ? "" : directory + "/starts") {
    if (!path_.empty()) {
        auto const last = changed(path_);
        starts_ = read(path_);
        // A store that was restored from a backup counts some epochs again.
        std::erase_if(starts_, [&](StartLine const& one) { return one.epoch >= epoch; });
        for (auto& one : starts_) one.alive = one.alive.value_or(last.value_or(one.started));
        auto const over = starts_.size() - std::min(starts_.size(), most - 1);
        starts_.erase(starts_.begin(), starts_.begin() + static_cast<std::ptrdiff_t>(over));
    }
    starts_.push_back({.epoch = epoch, .started = now});
    write();
    mark(now);
}

void Starts::write() const {
    if (path_.empty()) return;
    std::string text;
    for (auto const& one : starts_) {
        text += std::to_string(one.epoch) + " " + std::to_string(to_ms(one.started));
        if (one.alive) text += " " + std::to_string(to_ms(*one.alive));
        if (one.alive) text += one.clean.value_or(false) ? " end" : " killed";
        text += "\n";
    }
    auto const next = path_ + ".new";
    int const fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    bool const whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    if (whole) (void)std::rename(next.c_str(), path_.c_str());
}

void Starts::mark(Time now) const {
    if (path_.empty()) return;
    auto const ms = to_ms(now);
    timespec const at{ms / ms_of_second, ms % ms_of_second * ns_of_ms};
    timespec const times[] = {at, at};
    (void)::utimensat(AT_FDCWD, path_.c_str(), times, 0);
}

void Starts::keep(port::Loop& loop, port::Clock const& clock) {
    loop.after(every, scope_.guard([this, &loop, &clock] {
        mark(clock.now());
        keep(loop, clock);
    }));
}

void Starts::end(Time now) {
    auto& own = starts_.back();
    own.alive = now;
    own.clean = true;
    write();
    mark(now);
}

}  // namespace dormouse::io
