#include "runner/lane/started_runs.h"

#include <gtest/gtest.h>

namespace dormouse::runner {
namespace {

using namespace session;

SessionId const one = SessionId::make(1, {});

RunTool run_of(CallNo call, std::uint32_t attempt = 1) {
    return {{one, call, 1, {}}, attempt, "deploy", Json::trusted(R"({"to":"prod"})"), {}};
}

TEST(StartedRuns, SameRun_IsKnownUnderAnyId) {
    StartedRuns runs(10);
    RunTool run = run_of(1);
    EXPECT_TRUE(runs.add(one, run));
    run.pending.nonce = {7};
    EXPECT_FALSE(runs.add(one, run));
}

TEST(StartedRuns, OtherRun_IsNot) {
    StartedRuns runs(10);
    ASSERT_TRUE(runs.add(one, run_of(1)));
    EXPECT_TRUE(runs.add(one, run_of(2)));
    EXPECT_TRUE(runs.add(one, run_of(1, 2)));
    EXPECT_TRUE(runs.add(SessionId::make(2, {}), run_of(1)));
    RunTool other = run_of(1);
    other.input = Json::trusted(R"({"to":"test"})");
    EXPECT_TRUE(runs.add(one, other));
    other = run_of(1);
    other.tool = "remove";
    EXPECT_TRUE(runs.add(one, other));
    other = run_of(1);
    other.pending.generation = 2;
    EXPECT_TRUE(runs.add(one, other));
}

TEST(StartedRuns, RemovedOne_MayStart) {
    StartedRuns runs(10);
    ASSERT_TRUE(runs.add(one, run_of(1)));
    runs.remove(one, run_of(1));
    EXPECT_TRUE(runs.add(one, run_of(1)));
}

TEST(StartedRuns, OldOnes_AreForgotten) {
    StartedRuns runs(2);
    for (CallNo const call : {1U, 2U, 3U}) ASSERT_TRUE(runs.add(one, run_of(call)));
    EXPECT_FALSE(runs.add(one, run_of(2)));
    EXPECT_FALSE(runs.add(one, run_of(3)));
    EXPECT_TRUE(runs.add(one, run_of(1)));
}

TEST(StartedRuns, NoneAreKept_AllMayStart) {
    StartedRuns runs(0);
    EXPECT_TRUE(runs.add(one, run_of(1)));
    EXPECT_TRUE(runs.add(one, run_of(1)));
}

}  // namespace
}  // namespace dormouse::runner
