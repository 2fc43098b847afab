#pragma once
// The fixture of the core's tests: a session, and at the end of each test the proof that nothing
// was broken on the way.

#include "session/testing/given.h"

#include <gtest/gtest.h>

namespace dormouse::session::testing {

class SessionTest : public ::testing::Test, protected Given {
protected:
    void TearDown() override { EXPECT_EQ(broken(), ""); }

    // Given whose agent joins its calls so, or runs so many tools at once.
    void join(std::uint32_t n, bool cancel_rest) { terms.join = {n, cancel_rest}; }
    void slots(std::uint32_t k) { terms.tool_concurrency = k; }
};

}  // namespace dormouse::session::testing
