#include "session/task.h"

#include "session/testing/session_fixture.h"

// A tool call made by the external agent itself: a task that reports its outcome once and is
// cleared by it.
namespace dormouse::session::testing {
namespace {

class CallTask : public SessionTest {
protected:
    static TaskAsk call(std::string mark) {
        TaskAsk out;
        out.what = TaskAsk::What::start;
        out.agent = "calls:demo";
        out.description = "deploy {\"target\":\"A\"}";
        out.parts = parts("{}");
        out.mark = std::move(mark);
        return out;
    }
    Decision ends(TaskNo no, FinishReason finish, std::string const& reply_text,
                  std::string error) {
        SessionId const child = children.at(no);
        return when(Deliver{{child, ++message_seq_, 0},
                            RunEnded{no, 1, finish, quoted(reply_text), std::move(error), false}});
    }
    Decision makes(std::string mark) {
        Decision d = when(call(std::move(mark)));
        for (auto const& [no, task] : state.tasks) children[no] = task.child;
        return d;
    }
    static std::string text_in(Decision const& d) {
        return std::string(first<InputReceived>(d).parts.text());
    }
    std::map<TaskNo, SessionId> children;

private:
    Seq message_seq_ = 0;
};

TEST_F(CallTask, Outcome_IdleSession_WakesAndClearsInOneAppend) {
    (void)create();
    Decision const made = makes("m");
    EXPECT_EQ(types(made), "task_started");
    EXPECT_EQ(made.answer->task, 1u);
    EXPECT_EQ(made.answer->outcome, Answer::Outcome::applied);
    Decision const d = ends(1, FinishReason::stop, "The result is: live", "");
    EXPECT_EQ(types(d), "task_changed input_received task_cleared turn_started model_requested");
    EXPECT_EQ(text_in(d), R"([{"type":"text","text":"The result is: live"}])");
    EXPECT_TRUE(state.tasks.empty());
    EXPECT_EQ(types(ends(1, FinishReason::stop, "The result is: live", "")), "")
        << "the end of a run that came twice";
}

TEST_F(CallTask, SameMark_WhileOpen_IsADuplicate) {
    (void)create();
    (void)makes("m");
    Decision const again = makes("m");
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(again.answer->outcome, Answer::Outcome::duplicate);
    EXPECT_EQ(again.answer->task, 1u);
    EXPECT_EQ(makes("other").answer->task, 2u);
    (void)ends(1, FinishReason::stop, "x", "");
    EXPECT_EQ(makes("m").answer->task, 3u) << "the first one has its outcome";
}

TEST_F(CallTask, Failure_NamesTheCallThatFailed) {
    (void)create();
    (void)makes("m");
    Decision const d = ends(1, FinishReason::error, "", "There is no agent \"x\"");
    EXPECT_EQ(text_in(d), R"([{"type":"text","text":"deploy {\"target\":\"A\"}: There is no agent )"
                          R"(\"x\""}])");
    EXPECT_TRUE(state.tasks.empty());
}

TEST_F(CallTask, Outcome_BusySession_ComesAfterItsTurn) {
    (void)create();
    (void)prompt("please");
    (void)makes("m");
    EXPECT_EQ(types(ends(1, FinishReason::stop, "live", "")),
              "task_changed input_received task_cleared");
    EXPECT_EQ(state.queue.size(), 1u) << "clearing takes back no outcome";
    EXPECT_EQ(types(reply()), "model_replied turn_ended turn_started model_requested");
}

TEST_F(CallTask, Cancelled_IsReported) {
    (void)create();
    (void)makes("m");
    TaskAsk cancel;
    cancel.what = TaskAsk::What::cancel;
    cancel.task = task_id(id, 1);
    Decision const d = when(cancel);
    EXPECT_NE(text_in(d).find("cancelled"), std::string::npos);
    EXPECT_TRUE(state.tasks.empty());
}

TEST_F(CallTask, Calls_TakeNoTaskSlotAndSurviveClearAll) {
    (void)create();
    for (int i = 0; i < 20; ++i) (void)makes("m" + std::to_string(i));
    for (auto const& [no, task] : state.tasks) EXPECT_EQ(task.queued, 0u) << no;
    TaskAsk task = call("");
    EXPECT_FALSE(first<TaskStarted>(when(task)).queued);
    TaskAsk clear;
    clear.what = TaskAsk::What::clear;
    (void)when(clear);
    EXPECT_EQ(state.tasks.size(), 20u);
}

TEST_F(CallTask, EndOfTheSession_EndsItsCalls) {
    (void)create();
    (void)makes("m");
    Decision const d = when(Move{Move::To::end, ""});
    EXPECT_TRUE(state.tasks.empty());
    ASSERT_FALSE(d.outbox.empty());
    auto const* stop = std::get_if<StopRun>(&d.outbox.back().what);
    ASSERT_TRUE(stop);
    EXPECT_TRUE(stop->ends);
}

}  // namespace
}  // namespace dormouse::session::testing
