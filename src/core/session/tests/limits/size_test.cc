#include "session/state.h"

#include <gtest/gtest.h>

namespace dormouse::session {
namespace {

// docs/benchmarks.md, "Memory": a server holds many of them. Large members are stored apart
// (base/indirect.h).
TEST(Size, EventsAndCalls_HoldNoLargeMembers) {
    EXPECT_LE(sizeof(Event), 320U);
    EXPECT_LE(sizeof(Call), 664U);
}

}  // namespace
}  // namespace dormouse::session
