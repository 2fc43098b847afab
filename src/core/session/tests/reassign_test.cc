#include "session/testing/session_fixture.h"

// Reassigning: other people are asked, under the same id and deadline.
namespace dormouse::session::testing {
namespace {

constexpr Duration minute{60'000};

class ReassignTest : public SessionTest {
protected:
    void asks(AnswerTerms answer) {
        asks_for({gated(plain())});
        PauseTerms terms = pause_for(PauseReason::approval);
        terms.answer = std::move(answer);
        terms.timeout = minute;
        terms.escalate_to = {"carl"};
        (void)gate(1, terms);
        pending_id_ = pending(1);
    }
    void as(std::string const& name, std::vector<std::string> has = {"role:answer"}) {
        by = {ActorType::token, name};
        roles = std::move(has);
    }
    void as_admin() {
        by = {ActorType::token, "root"};
        roles.reset();
    }
    Decision passes_to(std::vector<Reassign::To> to) {
        return when(Reassign{pending_id_, std::move(to)});
    }
    Decision votes(std::string const& name, bool approved = true) {
        as(name);
        return submit(pending_id_, decision(approved));
    }
    static Reassign::To person(std::string const& name,
                               std::vector<std::string> has = {"role:answer"}) {
        return {name, std::move(has)};
    }
    PendingId pending_id_;
};

TEST_F(ReassignTest, ToAPerson_OnlyThatPersonMayAnswer) {
    asks({{"role:answer"}, 1});
    as("ann");
    auto const d = passes_to({person("bob")});
    EXPECT_EQ(types(d), "reassigned");
    EXPECT_EQ(first<Reassigned>(d).pending, pending_id_) << "the same id";
    EXPECT_EQ(first<Reassigned>(d).by->name, "ann");
    EXPECT_EQ(first<Reassigned>(d).deadline, call(1).pause->deadline) << "the same deadline";
    EXPECT_EQ(answer_of(votes("ann")), "not_an_answerer");
    EXPECT_EQ(answer_of(votes("bob")), "applied");
}

TEST_F(ReassignTest, Repeated_ChangesNothing) {
    asks({{}, 1});
    as("ann");
    (void)passes_to({person("ann"), person("bob")});
    EXPECT_EQ(types(passes_to({person("ann"), person("bob")})), "");
}

TEST_F(ReassignTest, ByOthersThanAnswerers_IsRefused) {
    asks({{"ann"}, 1});
    as("dan");
    EXPECT_EQ(answer_of(passes_to({person("ann")})), "not_an_answerer");
    EXPECT_EQ(types(passes_to({person("dan")})), "");
}

TEST_F(ReassignTest, ByAnAnswerer_NeverWidens) {
    asks({{"ann", "role:operate"}, 1});
    as("ann");
    EXPECT_EQ(answer_of(passes_to({person("bob")})), "forbidden") << "may not answer now";
    EXPECT_EQ(answer_of(passes_to({person("bob", {})})), "forbidden") << "unknown";
    EXPECT_EQ(answer_of(passes_to({{"role:answer", {"role:answer"}}})), "forbidden");
    EXPECT_EQ(answer_of(passes_to({person("ann"), person("bob")})), "forbidden") << "one of two";
    EXPECT_EQ(answer_of(passes_to({person("olga", {"role:answer", "role:operate"})})), "applied");
}

TEST_F(ReassignTest, RoleAboveTheAskedOne_IsWithinIt) {
    asks({{"role:answer"}, 1});
    as("ann");
    EXPECT_EQ(answer_of(passes_to({{"role:operate", {"role:answer", "role:operate"}}})), "applied");
    EXPECT_EQ(answer_of(votes("ann")), "not_an_answerer");
}

TEST_F(ReassignTest, ByAnAdmin_MayNameAnybody) {
    asks({{"ann"}, 1});
    as_admin();
    EXPECT_EQ(answer_of(passes_to({person("bob", {})})), "applied");
    EXPECT_EQ(answer_of(votes("bob")), "applied");
}

TEST_F(ReassignTest, CapabilityWithoutRoles_IsNoAdmin) {
    asks({{"ann"}, 1});
    as_admin();
    by = {ActorType::capability, ""};
    EXPECT_EQ(answer_of(passes_to({person("bob")})), "not_an_answerer");
}

TEST_F(ReassignTest, ClaimOfAnother_KeepsAnswerersAway) {
    asks({{}, 1});
    as("bob");
    (void)when(Claim{pending_id_, minute / 2});
    as("ann");
    EXPECT_EQ(answer_of(passes_to({person("ann")})), "claimed");
    as_admin();
    EXPECT_EQ(answer_of(passes_to({person("ann")})), "applied");
    EXPECT_FALSE(call(1).claim) << "the claim ends";
}

TEST_F(ReassignTest, Requester_StaysExcluded) {
    by = {ActorType::token, "ann"};
    asks({{}, 1, true});
    as_admin();
    EXPECT_EQ(answer_of(passes_to({person("ann")})), "bad_value") << "nobody could answer";
    EXPECT_EQ(answer_of(passes_to({person("ann"), person("bob")})), "applied");
    EXPECT_EQ(answer_of(votes("ann")), "not_an_answerer");
}

TEST_F(ReassignTest, TooFewForTheVotes_IsRefused) {
    asks({{"ann", "bob", "cleo"}, 2});
    as("ann");
    EXPECT_EQ(answer_of(passes_to({person("bob")})), "bad_value");
    EXPECT_EQ(answer_of(votes("ann")), "counted");
    EXPECT_EQ(answer_of(passes_to({person("bob")})), "applied") << "one vote is there";
    EXPECT_EQ(types(votes("bob")), "voted submitted");
}

TEST_F(ReassignTest, Deadline_StillEscalates) {
    asks({{"ann", "bob"}, 1});
    as("ann");
    (void)passes_to({person("bob")});
    auto const d = later(minute);
    EXPECT_EQ(types(d), "reassigned");
    EXPECT_EQ(first<Reassigned>(d).answerers, std::vector<std::string>{"carl"});
    EXPECT_FALSE(first<Reassigned>(d).by);
}

TEST_F(ReassignTest, SettledCall_IsAConflict) {
    asks({{"ann"}, 1});
    (void)votes("ann");
    EXPECT_EQ(answer_of(passes_to({person("ann")})), "conflict");
}

TEST_F(ReassignTest, Job_IsNotForPeople) {
    asks_for({pausing(PauseReason::tool_result)});
    (void)pauses(1);
    pending_id_ = pending(1);
    as_admin();
    EXPECT_EQ(answer_of(passes_to({person("bob")})), "wrong_kind");
}

// ---- Files of an answer

class AnswerFilesTest : public SessionTest {
protected:
    void asks(std::uint32_t files) {
        asks_for({pausing(PauseReason::user_input)});
        PauseTerms terms = pause_for(PauseReason::user_input);
        terms.files = files;
        (void)pauses(1, terms);
        pending_id_ = pending(1);
    }
    Decision answers(std::string const& text, std::size_t files) {
        Submit command{pending_id_, result(text), "http", {}, std::nullopt, {}};
        std::string parts = "[";
        for (std::size_t i = 0; i < files; ++i) {
            parts += i == 0 ? "" : ",";
            parts += R"({"type":"file","mime":"text/plain","bytes":2)";
            Artifact file{"a.txt", "text/plain", std::make_shared<std::string const>("hi"), {}};
            file.digest = sha256("hi");
            command.files.push_back({std::move(file), parts.size()});
            parts += "}";
        }
        command.file_parts = json(parts + "]");
        return when(std::move(command));
    }
    PendingId pending_id_;
};

TEST_F(AnswerFilesTest, Files_FollowTheAnswerInItsMessage) {
    asks(2);
    auto const d = answers("see there", 2);
    EXPECT_EQ(types(d),
              "submitted artifact_emitted artifact_emitted input_received model_requested");
    auto const art = [&](Seq seq) { return numbered_id("art_", id, seq); };
    Seq const first_file = first<ArtifactEmitted>(d).bytes == 2 ? d.events[1].seq : 0;
    EXPECT_EQ(first<InputReceived>(d).parts.text(),
              R"([{"type":"text","text":"see there"},)"
              R"({"type":"file","mime":"text/plain","bytes":2,"artifactID":")" +
                  art(first_file) +
                  R"("},{"type":"file","mime":"text/plain","bytes":2,"artifactID":")" +
                  art(first_file + 1) + R"("}])");
    EXPECT_EQ(d.artifacts.size(), 2U);
    EXPECT_EQ(state.artifact_bytes, 4U);
}

TEST_F(AnswerFilesTest, FilesAlone_AreAnAnswer) {
    asks(1);
    auto const d = answers("", 1);
    EXPECT_TRUE(first<InputReceived>(d).parts.text().starts_with(R"([{"type":"file")"));
}

TEST_F(AnswerFilesTest, MoreThanAsked_AreRefused) {
    asks(1);
    EXPECT_EQ(answer_of(answers("see", 2)), "too_large");
    EXPECT_EQ(state.waiting, 1U);
}

TEST_F(AnswerFilesTest, CallThatTakesNone_RefusesThem) {
    asks(0);
    EXPECT_EQ(answer_of(answers("see", 1)), "invalid_result");
    EXPECT_EQ(answer_of(answers("see", 0)), "applied");
}

TEST_F(AnswerFilesTest, QuestionWithASchema_TakesNoPrompt) {
    asks_for({pausing(PauseReason::user_input)});
    PauseTerms terms = pause_for(PauseReason::user_input);
    terms.schema = json(R"({"type":"object"})");
    (void)pauses(1, terms);
    EXPECT_EQ(answer_of(prompt("blue")), "wrong_kind");
    EXPECT_EQ(answer_of(prompt("blue", PromptMode::queue)), "applied");
    EXPECT_EQ(state.waiting, 1U);
}

}  // namespace
}  // namespace dormouse::session::testing
