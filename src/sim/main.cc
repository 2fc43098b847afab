// dormouse-sim: runs seeds and prints findings; `usage` has its arguments.

#include "base/text/text.h"
#include "sim/simulation.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

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

struct Arguments {
    std::uint64_t from = 1;
    std::uint64_t count = 1;
    dormouse::sim::Settings settings = {};  // of each seed
};

int run(Arguments const& arguments) {
    Report sum;
    std::uint64_t broken = 0;
    auto settings = arguments.settings;
    for (std::uint64_t i = 0; i < arguments.count; ++i) {
        settings.seed = arguments.from + i;
        Report const report = dormouse::sim::simulate(settings);
        add(sum, report);
        bool const alone = arguments.count == 1;
        if (alone) std::printf("%shash %016" PRIx64 "\n", report.text().c_str(), report.hash);
        if (report.findings.empty()) continue;
        ++broken;
        if (!alone) std::printf("seed %" PRIu64 ":\n%s", report.seed, report.text().c_str());
        (void)std::fflush(stdout);
    }
    std::printf("seeds %" PRIu64 ", broken %" PRIu64 "\n", arguments.count, broken);
    print(sum);
    return broken == 0 ? 0 : 1;
}

constexpr char const* usage =
    "usage: dormouse-sim [--falls] FROM [COUNT [PROCESSES]]\n"
    "\n"
    "Runs COUNT seeds (default: 1) from FROM on and prints findings. Exit status 1: there are\n"
    "findings.\n"
    "\n"
    "  PROCESSES  processes that share a store, at most 3; default: each seed draws how many\n"
    "  --falls    the disk loses its newest writes in each seed with faults and several\n"
    "             processes; without it, in a fifth of them\n";

// nullopt: not valid.
std::optional<Arguments> parse(std::span<char*> words) {
    Arguments out;
    out.settings.falls_back = !words.empty() && std::string_view(words.front()) == "--falls";
    if (out.settings.falls_back) words = words.subspan(1);
    if (words.empty() || words.size() > 3) return std::nullopt;
    std::array<std::uint64_t, 3> numbers{1, 1, 1};
    for (std::size_t i = 0; i < words.size(); ++i)
        numbers.at(i) = dormouse::parse_number(words[i]).value_or(0);
    bool const valid = numbers[0] != 0 && numbers[1] != 0 && numbers[2] != 0 && numbers[2] <= 3;
    if (!valid) return std::nullopt;
    out.from = numbers[0];
    out.count = numbers[1];
    if (words.size() == 3) out.settings.processes = static_cast<unsigned>(numbers[2]);
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    auto const words = std::span(argv, static_cast<std::size_t>(argc)).subspan(1);
    bool const help = words.size() == 1 && std::string_view(words.front()) == "--help";
    if (help) return std::fputs(usage, stdout) < 0 ? 1 : 0;
    if (auto const arguments = parse(words)) return run(*arguments);
    (void)std::fputs(usage, stderr);
    return 2;
}
