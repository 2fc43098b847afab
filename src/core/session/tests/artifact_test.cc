#include "session/limits.h"
#include "session/testing/session_fixture.h"

#include <gtest/gtest.h>

// Artifacts of outcomes and prompts.
namespace dormouse::session::testing {
namespace {

class ArtifactTest : public SessionTest {
protected:
    static Artifact artifact(std::string const& text) {
        return {"plan.txt", "text/plain", std::make_shared<std::string const>(text), sha256(text)};
    }
    Submit offer(Attached attached) {
        Submission what = result("x");
        what.output = json(R"({"truncated":true})");
        return {pending(1), what, "http", {}, {}, std::move(attached)};
    }
    std::string art(Seq seq) const { return numbered_id("art_", id, seq); }
};

TEST_F(ArtifactTest, Outcome_ArtifactsPrecedeIt_OutputNamesTheLast) {
    asks_for({plain()});
    auto const d =
        outcome(pending(1), 1, Done{json("{}"), {}, {}, {{artifact("a"), artifact("bc")}, true}});
    EXPECT_EQ(types(d), "artifact_emitted artifact_emitted tool_finished model_requested");
    ASSERT_EQ(d.artifacts.size(), 2U);
    EXPECT_EQ(d.artifacts[1].seq, d.events[1].seq);
    EXPECT_EQ(*d.artifacts[1].bytes, "bc");
    auto const& event = std::get<ArtifactEmitted>(d.events[1].body);
    EXPECT_EQ(event.bytes, 2U);
    EXPECT_EQ(event.digest, sha256("bc"));
    EXPECT_EQ(event.call, 1U);
    EXPECT_EQ(first<ToolFinished>(d).output.text(),
              R"({"artifactID":")" + art(d.events[1].seq) + "\"}");
}

TEST_F(ArtifactTest, OverTheSessionsLimit_IsRefusedAndTheCallWaits) {
    waits_for({job()});
    Artifact const large = artifact(std::string(limits::artifact_bytes_max, 'x'));
    auto const d =
        when(offer({{artifact(std::string(limits::artifact_bytes_max + 1, 'x'))}, true}));
    EXPECT_EQ(answer_of(d), "too_large");
    EXPECT_EQ(answer_of(when(offer({std::vector(10, artifact("x")), true}))), "too_large");
    state.artifact_bytes = limits::session_artifact_bytes_max - limits::artifact_bytes_max + 1;
    State const before = state;
    auto const full = request_of(offer({{large}, true})).decided_on(state);
    EXPECT_EQ(answer_of(full), "too_large");
    EXPECT_EQ(state, before);
}

TEST_F(ArtifactTest, TitleAndMetadata_HaveALimitOfTheirOwn) {
    std::string const text(limits::output_bytes_max + 1, 'x');
    waits_for({job()});
    Submission what = result("x");
    what.title = text;
    EXPECT_EQ(answer_of(submit(pending(1), what)), "too_large");
    EXPECT_EQ(answer_of(submit(pending(1), error(text))), "too_large");
    EXPECT_EQ(answer_of(submit(pending(1), result("x"))), "applied");
    (void)reply({plain()});
    auto const d = outcome(pending(2), 1, Done{json("1"), text, {}, {}});
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::failed);
}

TEST_F(ArtifactTest, ToolOutcome_TooManyArtifacts_Fails) {
    asks_for({plain()});
    auto const d =
        outcome(pending(1), 1, Done{json("{}"), {}, {}, {std::vector(10, artifact("x"))}});
    EXPECT_EQ(types(d), "tool_finished model_requested");
    EXPECT_EQ(first<ToolFinished>(d).error_reason, ErrorReason::failed);
    EXPECT_TRUE(d.artifacts.empty());
}

TEST_F(ArtifactTest, Fork_HasCopiesUnderItsOwnIds) {
    SessionId from = id;
    from.bytes[15] = 8;
    Create create;
    create.id = id;
    create.agent = "demo";
    create.fork = Create::ForkOf{
        from, 9, json("[\"" + numbered_id("art_", from, 4) + "\"]"), 1, {{4, artifact("a")}}};
    auto const d = when(create);
    EXPECT_EQ(types(d), "session_created forked artifact_emitted");
    EXPECT_EQ(first<Forked>(d).messages.text(), "[\"" + art(3) + "\"]");
    ASSERT_EQ(d.artifacts.size(), 1U);
    EXPECT_EQ(d.artifacts[0].seq, 3U);
}

// A prompt with two files, of 1 and 2 bytes.
class FilesOfPromptTest : public ArtifactTest {
protected:
    static Prompt with_files() {
        Prompt prompt;
        std::string const text = R"([{"type":"image"},{"type":"text","text":"x"},{"type":"file"}])";
        prompt.parts = json(text);
        prompt.files = {{artifact("a"), text.find('}')}, {artifact("bc"), text.rfind('}')}};
        prompt.only_text = false;
        return prompt;
    }
    std::string parts_with(Seq first, Seq second) const {
        return R"([{"type":"image","artifactID":")" + art(first) +
               R"("},{"type":"text","text":"x"},{"type":"file","artifactID":")" + art(second) +
               "\"}]";
    }
};

TEST_F(FilesOfPromptTest, Files_OfAPrompt_AreStoredInItsAppend) {
    (void)create();
    auto const d = when(with_files());
    EXPECT_EQ(types(d),
              "artifact_emitted artifact_emitted input_received turn_started model_requested");
    Seq const at = d.events[0].seq;
    EXPECT_EQ(first<InputReceived>(d).parts.text(), parts_with(at, at + 1));
    EXPECT_EQ(first<ArtifactEmitted>(d).call, 0U);
    ASSERT_EQ(d.artifacts.size(), 2U);
    EXPECT_EQ(d.artifacts[1].seq, at + 1);
    EXPECT_EQ(*d.artifacts[1].bytes, "bc");
    EXPECT_EQ(state.artifact_bytes, 3U);
}

TEST_F(FilesOfPromptTest, FirstPromptOfASession_HasFiles) {
    Prompt const prompt = with_files();
    Create create;
    create.id = id;
    create.agent = "demo";
    create.prompt = Create::FirstPrompt{prompt.parts, prompt.files};
    auto const d = when(create);
    EXPECT_EQ(types(d),
              "session_created artifact_emitted artifact_emitted input_received "
              "turn_started model_requested");
    EXPECT_EQ(first<InputReceived>(d).parts.text(), parts_with(2, 3));
}

TEST_F(FilesOfPromptTest, RepeatedPrompt_StoresNothing) {
    (void)create();
    idem_key = "key";
    idem_digest = "digest";
    (void)when(with_files());
    idem_key = "key";
    idem_digest = "digest";
    auto const d = when(with_files());
    EXPECT_EQ(answer_of(d), "duplicate");
    EXPECT_TRUE(d.artifacts.empty());
    EXPECT_EQ(state.artifact_bytes, 3U);
}

TEST_F(FilesOfPromptTest, OverTheLimit_IsRefusedAndChangesNothing) {
    (void)create();
    Prompt many = with_files();
    many.files.assign(limits::input_files_max + 1, many.files[0]);
    EXPECT_EQ(answer_of(when(many)), "too_large");
    Prompt large = with_files();
    large.files[0].artifact = artifact(std::string(limits::input_file_bytes_max + 1, 'x'));
    EXPECT_EQ(answer_of(when(large)), "too_large");
    state.artifact_bytes = limits::session_artifact_bytes_max - 2;
    State const before = state;
    auto const full = request_of(with_files()).decided_on(state);
    EXPECT_EQ(answer_of(full), "too_large");
    EXPECT_EQ(state, before);
}

TEST_F(FilesOfPromptTest, OpenQuestion_IsNotAnsweredByFiles) {
    asks_for({pausing(PauseReason::user_input)});
    PauseTerms question;
    question.reason = PauseReason::user_input;
    question.continuation = Continuation::message;
    (void)pauses(1, question);
    auto const d = when(with_files());
    EXPECT_EQ(answer_of(d), "wrong_kind");
    EXPECT_TRUE(d.events.empty());
    Prompt queued = with_files();
    queued.when = PromptMode::queue;
    EXPECT_EQ(types(when(queued)), "artifact_emitted artifact_emitted input_received");
}

}  // namespace
}  // namespace dormouse::session::testing
