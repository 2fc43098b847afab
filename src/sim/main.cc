// dormouse-sim FROM [COUNT [PROCESSES]]: runs COUNT seeds from FROM on and prints findings.
// PROCESSES share a store, at most 3; without it, each seed draws how many. Exit status 1 if there
// are findings.

#include "base/text/text.h"
#include "sim/simulation.h"

#include <cinttypes>
#include <cstdio>
#include <span>

namespace {

using dormouse::sim::Report;

void add(Report& sum, Report const& report) {
    sum.kills += report.kills;
    sum.sessions += report.sessions;
    sum.events += report.events;
    sum.requests += report.requests;
    sum.acknowledged += report.acknowledged;
    sum.effects += report.effects;
    sum.virtual_ms += report.virtual_ms;
    for (auto const& [type, count] : report.types) sum.types[type] += count;
}

void print(Report const& sum) {
    std::printf("kills %" PRIu64 ", sessions %" PRIu64 ", events %" PRIu64 ", requests %" PRIu64
                ", acknowledged %" PRIu64 ", effects %" PRIu64 ", virtual hours %" PRId64 "\n",
                sum.kills, sum.sessions, sum.events, sum.requests, sum.acknowledged, sum.effects,
                sum.virtual_ms / 3'600'000);
    for (auto const& [type, count] : sum.types)
        std::printf("  %s %" PRIu64 "\n", type.c_str(), count);
}

int run(std::uint64_t from, std::uint64_t count, unsigned processes) {
    Report sum;
    std::uint64_t broken = 0;
    for (std::uint64_t seed = from; seed < from + count; ++seed) {
        Report const report = dormouse::sim::simulate({.seed = seed, .processes = processes});
        add(sum, report);
        bool const alone = count == 1;
        if (alone) std::printf("%shash %016" PRIx64 "\n", report.text().c_str(), report.hash);
        if (report.findings.empty()) continue;
        ++broken;
        if (!alone) std::printf("seed %" PRIu64 ":\n%s", seed, report.text().c_str());
        (void)std::fflush(stdout);
    }
    std::printf("seeds %" PRIu64 ", broken %" PRIu64 "\n", count, broken);
    print(sum);
    return broken == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::span<char*> const words(argv, static_cast<std::size_t>(argc));
    auto const number = [&](std::size_t at) {
        return at < words.size() ? dormouse::parse_number(words[at]).value_or(0) : 1;
    };
    std::uint64_t const from = number(1);
    std::uint64_t const count = number(2);
    bool const drawn = words.size() <= 3;
    std::uint64_t const processes = drawn ? 0 : number(3);
    bool const valid = from != 0 && count != 0 && processes <= 3 && (drawn || processes > 0);
    if (valid) return run(from, count, static_cast<unsigned>(processes));
    (void)std::fputs("usage: dormouse-sim FROM [COUNT [PROCESSES]]\n", stderr);
    return 2;
}
