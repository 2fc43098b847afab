#include "session/limits.h"

#include "session/testing/session_fixture.h"

// Limits lowered by an operator apply at once and change nothing that was written before.
namespace dormouse::session::testing {
namespace {

class LimitsTest : public SessionTest {
protected:
    void waits_for_a_job() {
        (void)create();
        (void)prompt("go");
        (void)reply({job()});
    }
};

TEST_F(LimitsTest, PromptText_OverTheLimit_IsRefused) {
    limits.prompt_bytes = 10;
    (void)create();
    Prompt large;
    large.parts = parts("x");
    large.text_bytes = 11;
    auto const d = when(large);
    EXPECT_EQ(answer_of(d), "too_large");
    EXPECT_EQ(d.answer.error().detail, "A prompt's text must be at most 10 bytes.");
    EXPECT_EQ(d.answer.error().extra.text(), R"({"limit":"prompt_bytes","max":10})");
    large.text_bytes = 10;
    EXPECT_EQ(answer_of(when(large)), "applied");
}

TEST_F(LimitsTest, QueuedPrompts_OverTheLimit_AreRefused) {
    limits.queue = 1;
    (void)create();
    (void)prompt("first");
    EXPECT_EQ(answer_of(prompt("second")), "applied");
    EXPECT_EQ(answer_of(prompt("third")), "queue_full");
}

TEST_F(LimitsTest, CallsOfAReply_OverTheLimit_FailTheTurn) {
    limits.calls_per_reply = 1;
    (void)create();
    (void)prompt("go");
    EXPECT_EQ(types(reply({job(), job()})), "model_failed turn_ended");
}

TEST_F(LimitsTest, OpenCalls_OverTheLimit_FailTheTurn) {
    limits.open_calls = 1;
    (void)create();
    (void)prompt("go");
    EXPECT_EQ(types(reply({job(), job()})), "model_failed turn_ended");
}

TEST_F(LimitsTest, ResultOutput_OverTheLimit_IsRefused) {
    limits.output_bytes = 10;
    waits_for_a_job();
    (void)pauses(1, pause_for(PauseReason::tool_result));
    EXPECT_EQ(answer_of(submit(pending(1), result(std::string(10, 'x')))), "too_large");
    EXPECT_EQ(answer_of(submit(pending(1), result(std::string(8, 'x')))), "applied");
}

TEST_F(LimitsTest, Progress_TooFast_IsRefused) {
    limits.progress_per_second = 1;
    limits.progress_per_call = 2;
    waits_for_a_job();
    (void)pauses(1, pause_for(PauseReason::tool_result));
    auto const report = [this] {
        return answer_of(when(Progress{pending(1), quoted("half"), {}}));
    };
    EXPECT_EQ(report(), "applied");
    now += Duration(1'000);
    EXPECT_EQ(report(), "applied");
    now += Duration(1'000);
    EXPECT_EQ(report(), "rate_limited");
}

}  // namespace
}  // namespace dormouse::session::testing
