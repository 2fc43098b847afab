#include "session/testing/session_fixture.h"

// A call that waits for a person's message (S22): a plain prompt can answer it.
namespace dormouse::session::testing {
namespace {

class MessagePauseTest : public SessionTest {
protected:
    void asks_people(std::size_t count) {
        CallSpec const spec = pausing(PauseReason::user_input);
        asks_for(std::vector<CallSpec>(count, spec));
        for (CallNo no = 1; no <= count; ++no) (void)pauses(no, pause_for(PauseReason::user_input));
    }
    Decision answer(PendingId const& to, std::string const& text) {
        Prompt prompt;
        prompt.parts = parts(text);
        prompt.answers = to;
        prompt.answer_output = quoted(text);
        prompt.answer_digest = result(text).digest;
        return when(prompt);
    }
};

TEST_F(MessagePauseTest, MessagePause_HasNoDeadline) {
    asks_people(1);
    EXPECT_EQ(call(1).pause->deadline, std::nullopt);
    EXPECT_EQ(what_class(), "waiting");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

TEST_F(MessagePauseTest, PromptWithoutMode_AnswersTheOpenQuestion) {
    asks_people(1);
    PendingId const pending_id = pending(1);
    auto const d = prompt("use blue");
    EXPECT_EQ(types(d), "submitted input_received model_requested")
        << "receipt and message in one append";
    EXPECT_EQ(d.answer->receipt->pending, pending_id);
    EXPECT_EQ(d.answer->receipt->digest, result("use blue").digest);
    EXPECT_EQ(first<InputReceived>(d).answers, pending_id);
    EXPECT_EQ(d.answer->turn, 1U);
}

TEST_F(MessagePauseTest, Submission_AnswersLikeAPrompt) {
    asks_people(1);
    PendingId const pending_id = pending(1);
    auto const d = submit(pending_id, result("use blue"));
    EXPECT_EQ(types(d), "submitted input_received model_requested");
    EXPECT_EQ(first<InputReceived>(d).parts.text(), R"([{"type":"text","text":"use blue"}])");
}

TEST_F(MessagePauseTest, PromptAndSubmission_SameAnswer_AreDuplicates) {
    asks_people(1);
    PendingId const pending_id = pending(1);
    (void)prompt("use blue");
    EXPECT_EQ(answer_of(submit(pending_id, result("use blue"))), "duplicate");
    EXPECT_EQ(answer_of(answer(pending_id, "use blue")), "duplicate");
    EXPECT_EQ(answer_of(answer(pending_id, "use red")), "conflict");
}

TEST_F(MessagePauseTest, PromptWithMode_IsNoAnswer) {
    asks_people(1);
    EXPECT_EQ(types(prompt("something else", PromptMode::queue)), "input_received");
    EXPECT_EQ(state.queue.size(), 1U);
    EXPECT_EQ(types(prompt("by the way", PromptMode::steer)), "input_received model_requested");
    EXPECT_EQ(state.message_pauses.size(), 1U);
}

TEST_F(MessagePauseTest, SeveralQuestions_AreAmbiguousAndNamed) {
    asks_people(2);
    auto const d = prompt("yes");
    EXPECT_EQ(answer_of(d), "ambiguous");
    EXPECT_EQ(types(d), "");
    std::string const extra(d.answer.error().extra.text());
    EXPECT_EQ(extra, "{\"ids\":[\"" + pending(1).text() + "\",\"" + pending(2).text() + "\"]}");
}

TEST_F(MessagePauseTest, PromptWithAnswers_SettlesThatQuestion) {
    asks_people(2);
    PendingId const second = pending(2);
    EXPECT_EQ(types(answer(second, "yes")), "submitted input_received");
    EXPECT_FALSE(state.calls.contains(2));
    EXPECT_EQ(types(prompt("and no")), "submitted input_received model_requested") << "one is left";
}

TEST_F(MessagePauseTest, CallWaitingForAResult_IsNotAnsweredByAPrompt) {
    waits_for({job()});
    EXPECT_EQ(answer_of(answer(pending(1), "done")), "wrong_kind");
    EXPECT_EQ(types(prompt("hello")), "input_received") << "it is queued";
}

TEST_F(MessagePauseTest, AnswerToAnUnknownPause_IsNotFound) {
    asks_people(1);
    EXPECT_EQ(answer_of(answer({id, 7, 1, {}}, "yes")), "not_found");
}

TEST_F(MessagePauseTest, DecisionsAndErrors_AreTheWrongKind) {
    asks_people(1);
    EXPECT_EQ(answer_of(submit(pending(1), decision(true))), "wrong_kind");
    EXPECT_EQ(answer_of(submit(pending(1), error("no"))), "wrong_kind");
}

// P1: an unanswered request may be repeated with its key.
TEST_F(MessagePauseTest, RepeatedAnswer_SameKey_IsNoSecondPrompt) {
    asks_people(1);
    idem_key = "key", idem_digest = "body";
    auto const once = prompt("use blue");
    idem_key = "key", idem_digest = "body";
    auto const again = prompt("use blue");
    EXPECT_EQ(answer_of(again), "duplicate");
    EXPECT_EQ(types(again), "");
    EXPECT_EQ(again.answer->turn, once.answer->turn);
    EXPECT_TRUE(state.queue.empty());
}

}  // namespace
}  // namespace dormouse::session::testing
