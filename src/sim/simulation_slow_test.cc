#include "sim/simulation.h"

#include <gtest/gtest.h>

namespace dormouse::sim {
namespace {

// Other seeds than in the quick test.
TEST(SimulationAtLength, EverySeed_KeepsThePromises) {
    for (std::uint64_t seed = 1'001; seed <= 6'000; ++seed) {
        Report const report = simulate({seed});
        ASSERT_TRUE(report.findings.empty()) << report.text();
    }
}

TEST(SimulationAtLength, ThreeProcesses_KeepThePromises) {
    for (std::uint64_t seed = 6'001; seed <= 6'400; ++seed) {
        Report const report = simulate({.seed = seed, .processes = 3});
        ASSERT_TRUE(report.findings.empty()) << report.text();
    }
}

}  // namespace
}  // namespace dormouse::sim
