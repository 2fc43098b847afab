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

}  // namespace
}  // namespace dormouse::sim
