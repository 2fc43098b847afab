#include "session/testing/session_fixture.h"

// A command that reaches a process which does not drive the session: what it says is written, and
// the driver does what follows from it.
namespace dormouse::session::testing {
namespace {

class DriverTest : public SessionTest {
protected:
    // Two calls; the second one still runs, so the session has a driver.
    void one_waits_one_runs() {
        asks_for({job(), plain()});
        (void)pauses(1, pause_for(PauseReason::tool_result));
        ASSERT_EQ(outstanding(state).size(), 1U);
    }
};

TEST_F(DriverTest, LastResult_Elsewhere_IsSettledAndNothingIsAsked) {
    one_waits_one_runs();
    (void)finish(2);
    auto const late = elsewhere(Submit{pending(1), result("1"), "http", {}, {}, {}});
    EXPECT_EQ(answer_of(late), "applied");
    EXPECT_EQ(types(late), "submitted");
    EXPECT_TRUE(stalled(state));
    EXPECT_EQ(wake_at(state), from_ms(0)) << "the driver must continue";
    EXPECT_EQ(types(tick()), "model_requested");
    EXPECT_FALSE(stalled(state));
}

TEST_F(DriverTest, Prompt_Elsewhere_WaitsForTheDriver) {
    (void)create();
    drives = false;
    auto const d = prompt("hello");
    drives = true;
    EXPECT_EQ(types(d), "input_received");
    EXPECT_TRUE(stalled(state));
    EXPECT_EQ(types(tick()), "turn_started model_requested");
}

TEST_F(DriverTest, ReplyElsewhere_CallStillPausesWhenItStarts) {
    (void)create();
    (void)prompt("hello");
    CallSpec spec = job();
    spec.at_once = pause_for(PauseReason::tool_result);
    drives = false;
    auto const replied = reply({spec});
    drives = true;
    EXPECT_EQ(types(replied), "model_replied");
    EXPECT_EQ(types(tick()), "tool_started call_paused");
}

TEST_F(DriverTest, ResultThatIsNotTheLast_Elsewhere_LeavesNothingToDo) {
    one_waits_one_runs();
    EXPECT_EQ(answer_of(elsewhere(Submit{pending(1), result("1"), "http", {}, {}, {}})), "applied");
    EXPECT_FALSE(stalled(state));
    EXPECT_EQ(types(tick()), "");
}

TEST_F(DriverTest, Deadline_Elsewhere_IsWritten) {
    one_waits_one_runs();
    now += Duration(400LL * 24 * 3'600'000);
    EXPECT_EQ(types(elsewhere(Tick{})), "expired") << "the driver alone gives up the run";
    EXPECT_EQ(types(tick()), "tool_finished model_requested");
}

TEST_F(DriverTest, Cancel_Elsewhere_EndsTheTurn) {
    one_waits_one_runs();
    EXPECT_EQ(types(elsewhere(Cancel{Cancel::Scope::turn, {}})), "cancelled cancelled turn_ended");
    EXPECT_FALSE(stalled(state));
}

}  // namespace
}  // namespace dormouse::session::testing
