#include "sim/simulation.h"

#include <gtest/gtest.h>

namespace dormouse::sim {
namespace {

TEST(Simulation, EverySeed_KeepsThePromises) {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Report const report = simulate({seed});
        EXPECT_TRUE(report.findings.empty()) << report.text();
    }
}

TEST(Simulation, SeveralProcesses_KeepThePromises) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        for (unsigned const processes : {2U, 3U}) {
            Report const report = simulate({.seed = seed, .processes = processes});
            EXPECT_TRUE(report.findings.empty()) << report.text();
        }
    }
}

// The first three are seeds that once broke a promise.
TEST(Simulation, DiskThatFallsBack_KeepsThePromises) {
    std::vector<Settings> runs{{.seed = 134, .processes = 3},
                               {.seed = 82'684, .processes = 2},
                               {.seed = 100'474, .processes = 3}};
    for (std::uint64_t seed = 1; seed <= 60; ++seed)
        runs.push_back({.seed = seed, .processes = 2 + static_cast<unsigned>(seed % 2)});
    for (Settings& run : runs) {
        run.falls_back = true;
        Report const report = simulate(run);
        EXPECT_TRUE(report.findings.empty()) << report.text();
    }
}

TEST(Simulation, SameSeed_SameRun) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        EXPECT_EQ(simulate({seed}).hash, simulate({seed}).hash) << "seed " << seed;
    }
}

TEST(Simulation, OtherSeed_OtherRun) { EXPECT_NE(simulate({1}).hash, simulate({2}).hash); }

// Coverage: two hundred seeds produce every type of event that these agents can cause.
TEST(Simulation, ManySeeds_ProduceEveryEventType) {
    std::map<std::string, std::uint64_t> types;
    std::uint64_t kills = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        Report const report = simulate({seed});
        kills += report.kills;
        for (auto const& [type, count] : report.types) types[type] += count;
    }
    EXPECT_GT(kills, 200U);
    for (char const* type : {"session_created",
                             "input_received",
                             "input_dropped",
                             "turn_started",
                             "model_requested",
                             "model_replied",
                             "model_failed",
                             "tool_started",
                             "tool_finished",
                             "call_paused",
                             "gate_asked",
                             "gate_decided",
                             "submitted",
                             "expired",
                             "cancelled",
                             "in_doubt",
                             "note",
                             "turn_ended",
                             "task_started",
                             "task_changed",
                             "run_reported",
                             "mail_sent",
                             "mail_received",
                             "mail_bounced",
                             "session_ended",
                             "session_deleted",
                             "base"}) {
        EXPECT_GT(types[type], 0U) << type;
    }
}

}  // namespace
}  // namespace dormouse::sim
