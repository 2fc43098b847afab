#pragma once
// Fixture of the core's tests: a session, with a check at the end of each test that no invariant
// was violated.

#include "session/testing/given.h"

#include <gtest/gtest.h>

namespace dormouse::session::testing {

class SessionTest : public ::testing::Test, protected Given {
protected:
    void TearDown() override { EXPECT_EQ(broken(), ""); }

    // Sets the join of the agent's turns, or how many tools run at once.
    void join(std::uint32_t n, bool cancel_rest) { terms.join = {n, cancel_rest}; }
    void slots(std::uint32_t k) { terms.tool_concurrency = k; }
};

}  // namespace dormouse::session::testing
