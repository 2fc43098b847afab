#include "session/testing/session_fixture.h"

// Create and fork, and commands to a session that does not exist.
namespace dormouse::session::testing {
namespace {

class CreateTest : public SessionTest {
protected:
    Create with_prompt() {
        Create create{id, "default", "coder", {}, {}, {}, {}, {}, {}};
        create.prompt = Create::FirstPrompt{parts("hello")};
        return create;
    }
};

TEST_F(CreateTest, NewSession_IsIdleAndSleeps) {
    auto const d = create();
    EXPECT_EQ(types(d), "session_created");
    EXPECT_EQ(answer_of(d), "applied");
    EXPECT_EQ(what_class(), "idle");
    EXPECT_EQ(wake_at(state), std::nullopt);
}

TEST_F(CreateTest, WithAPrompt_AsksTheModelInTheSameAppend) {
    auto const d = when(with_prompt());
    EXPECT_EQ(types(d), "session_created input_received turn_started model_requested");
    EXPECT_EQ(find_effect<AskModel>(), (AskModel{1, 1, 1, 3}));
    EXPECT_EQ(d.events.back().activity, Activity::busy);
    EXPECT_EQ(d.answer->turn, 1U);
    EXPECT_EQ(d.answer->seq, 2U);
    EXPECT_EQ(wake_at(state), from_ms(0));
}

TEST_F(CreateTest, Repeat_WritesNothing) {
    (void)when(with_prompt());
    auto const d = when(with_prompt());
    EXPECT_EQ(types(d), "");
    EXPECT_EQ(answer_of(d), "duplicate");
}

TEST_F(CreateTest, Repeat_AfterDeletion_IsGone) {
    (void)create();
    (void)when(Delete{});
    auto const d = create();
    EXPECT_EQ(answer_of(d), "session_gone");
    EXPECT_EQ(types(d), "");
}

TEST_F(CreateTest, Fork_TakesOnlyTheTranscript) {
    Create fork{id, "default", "coder", {}, {}, {}, {}, {}, {}};
    SessionId original;
    original.bytes[15] = 9;
    fork.fork = Create::ForkOf{original, 12, json("[]"), 4};
    auto const d = when(fork);
    EXPECT_EQ(types(d), "session_created forked");
    EXPECT_EQ(what_class(), "idle");
    EXPECT_EQ(state.forked_from, original);
    EXPECT_EQ(state.messages, 4U);
    EXPECT_TRUE(state.calls.empty());
    EXPECT_TRUE(state.queue.empty());
    EXPECT_EQ(state.usage, Usage{});
    EXPECT_EQ(types(prompt("continue")), "input_received turn_started model_requested");
}

TEST_F(CreateTest, Fork_IdsOfTheOriginal_AreUnknown) {
    Given original;
    original.waits_for({job()});
    Create fork{id, "default", "coder", {}, {}, {}, {}, {}, {}};
    fork.fork = Create::ForkOf{original.id, original.state.head, json("[]"), 2};
    (void)when(fork);
    EXPECT_EQ(answer_of(submit(original.pending(1), result("ok"))), "not_found");
    EXPECT_EQ(answer_of(original.submit(original.pending(1), result("ok"))), "applied");
    EXPECT_EQ(original.broken(), "");
}

TEST_F(CreateTest, AgentRefusesTheProject_NothingIsCreated) {
    refused = "the program serves another project";
    auto const d = when(with_prompt());
    EXPECT_EQ(types(d), "");
    ASSERT_FALSE(d.answer);
    EXPECT_EQ(d.answer.error().code, Code::bad_value);
    EXPECT_EQ(d.answer.error().detail, "/agentID: the program serves another project");
    EXPECT_EQ(state.lifecycle, Lifecycle::none);
    // An existing session is unchanged: its agent may accept the project later.
    (void)create();
    refused = "the program serves another project";
    EXPECT_EQ(answer_of(create()), "duplicate");
}

TEST_F(CreateTest, UnknownSession_IsNotFound) {
    EXPECT_EQ(answer_of(prompt("hello?")), "not_found");
    EXPECT_EQ(answer_of(tick()), "not_found");
    EXPECT_EQ(answer_of(when(Delete{})), "not_found");
    EXPECT_EQ(state, (Given{}.state));
}

TEST_F(CreateTest, SameCommand_SameEventsByteForByte) {
    (void)create();
    auto const request = request_of(Prompt{parts("go"), {}, {}, false, quoted("go"), {}});
    State one = state;
    State other = state;
    auto const a = request.decided_on(one);
    auto const b = request.decided_on(other);
    EXPECT_EQ(types(a), types(b));
    EXPECT_EQ(one, other);
}

}  // namespace
}  // namespace dormouse::session::testing
