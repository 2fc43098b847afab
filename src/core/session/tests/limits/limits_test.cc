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
    auto const d = prompt(std::string(11, 'x'));
    EXPECT_EQ(answer_of(d), "too_large");
    EXPECT_EQ(d.answer.error().detail, "A prompt's text must be at most 10 bytes.");
    EXPECT_EQ(d.answer.error().extra.text(), R"({"limit":"prompt_bytes","max":10})");
    EXPECT_EQ(answer_of(prompt(std::string(10, 'x'))), "applied");
    EXPECT_EQ(answer_of(prompt(std::string(10, '\n'))), "applied") << "its JSON is longer";
    Prompt several;
    several.parts = json(R"([{"type":"text","text":"12345"},{"type":"file","name":"0123456789"},)"
                         R"({"type":"text","text":"12345"}])");
    EXPECT_EQ(answer_of(when(several)), "too_large") << "a newline joins them";
    several.parts = json(R"([{"type":"text","text":"12345"},{"type":"text","text":"1234"}])");
    EXPECT_EQ(answer_of(when(several)), "applied");
}

TEST_F(LimitsTest, FirstPromptText_OverTheLimit_MakesNoSession) {
    limits.prompt_bytes = 10;
    Create first{id, "default", "coder", {}, {}, {}, {}, {}, {}};
    first.prompt = Create::FirstPrompt{parts(std::string(11, 'x'))};
    auto const d = when(first);
    EXPECT_EQ(answer_of(d), "too_large");
    EXPECT_EQ(types(d), "");
    EXPECT_EQ(d.answer.error().extra.text(), R"({"limit":"prompt_bytes","max":10})");
    EXPECT_EQ(state.lifecycle, Lifecycle::none);
    first.prompt = Create::FirstPrompt{parts(std::string(10, 'x'))};
    EXPECT_EQ(answer_of(when(first)), "applied");
}

TEST_F(LimitsTest, TaskText_OverTheLimit_IsRefused) {
    limits.prompt_bytes = 10;
    (void)create();
    TaskAsk ask;
    ask.what = TaskAsk::What::start;
    ask.agent = "coder";
    ask.parts = parts(std::string(11, 'x'));
    EXPECT_EQ(answer_of(when(ask)), "too_large");
    ask.parts = parts(std::string(10, 'x'));
    EXPECT_EQ(answer_of(when(ask)), "applied");
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
