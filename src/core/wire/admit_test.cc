#include "wire/admit.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;

std::string const deep = std::string(100'000, '[');
std::string const bad_text = "\xff\xfe go";

// Values that are not JSON, each for another reason.
std::vector<Json> bad_values() {
    std::vector<Json> out;
    for (std::string const& text : {std::string(R"({"what":"a")"), std::string("{not json"),
                                    std::string(R"({"a":1}x)"), std::string(R"(1},"x":{"y":2)"),
                                    std::string(R"({"a":1,"a":2})"), std::string("1e999"), deep})
        out.push_back(Json::trusted(text));
    return out;
}
Json const not_utf8 = Json::trusted("{\"a\":\"\xff\"}");

std::string refusal(Command::Body body) {
    Command command;
    command.body = std::move(body);
    auto const admitted = admit(command);
    if (admitted) return "";
    EXPECT_EQ(admitted.error().code, Code::bad_value);
    return admitted.error().detail;
}

// Returns the outcome after the changes of admit().
template <class T> T admitted(T outcome) {
    Command command;
    command.body = std::move(outcome);
    EXPECT_TRUE(admit(command));
    return std::get<T>(command.body);
}

Submit submit_of(Json output) {
    Submit out;
    out.what.output = std::move(output);
    return out;
}

TEST(Admit, Submit_ValueThatIsNotJson_IsRefusedWithItsField) {
    EXPECT_EQ(refusal(submit_of(Json::trusted(R"({"a":[1, 2]})"))), "");
    for (Json const& bad : bad_values())
        EXPECT_TRUE(refusal(submit_of(bad)).starts_with("output is not JSON: ")) << bad.size();
    EXPECT_TRUE(refusal(submit_of(not_utf8)).starts_with("output is not JSON: not UTF-8"));
    Submit decision;
    decision.what.content = Json::trusted("{");
    EXPECT_TRUE(refusal(decision).starts_with("content is not JSON"));
}

TEST(Admit, CallersCommand_TextNotUtf8_IsRefusedWithItsField) {
    Submit error;
    error.what.error = bad_text;
    EXPECT_EQ(refusal(error), "error is not UTF-8");
    EXPECT_EQ(refusal(Progress{{}, {}, bad_text}), "key is not UTF-8");
    EXPECT_EQ(refusal(Change{bad_text, {}, {}, {}}), "title is not UTF-8");
    Create create;
    create.agent = bad_text;
    EXPECT_EQ(refusal(create), "agent is not UTF-8");
    EXPECT_EQ(refusal(SendMail{{}, bad_text}), "text is not UTF-8");
    Command command;
    command.by.name = bad_text;
    command.body = Move{};
    EXPECT_EQ(admit(command).error().detail, "by is not UTF-8");
}

TEST(Admit, CallersCommand_EveryOtherValue_IsChecked) {
    Json const bad = Json::trusted("[1");
    EXPECT_TRUE(refusal(Progress{{}, bad, ""}).starts_with("payload"));
    EXPECT_TRUE(refusal(Change{{}, {}, bad, {}}).starts_with("labels"));
    EXPECT_TRUE(refusal(ImportMore{2, bad, 1, {}}).starts_with("messages"));
    Create create;
    create.labels = bad;
    EXPECT_TRUE(refusal(create).starts_with("labels"));
    create.labels = {};
    create.prompt = Create::FirstPrompt{bad};
    EXPECT_TRUE(refusal(create).starts_with("prompt"));
    Prompt prompt;
    prompt.parts = bad;
    EXPECT_TRUE(refusal(prompt).starts_with("parts"));
    Deliver deliver;
    deliver.what = StartRun{.parts = bad};
    EXPECT_TRUE(refusal(deliver).starts_with("parts"));
}

TEST(Admit, Labels_AreLimited) {
    auto const labels = [](std::size_t count, std::size_t name, std::size_t value) {
        json::Writer out;
        out.begin_object();
        for (std::size_t i = 0; i < count; ++i) {
            std::string key = std::to_string(i);
            key.resize(std::max(key.size(), name), 'k');
            out.member(key, std::string(value, 'v'));
        }
        return out.end_object().json();
    };
    auto const refused = [](Json what) { return refusal(Change{{}, {}, std::move(what), {}}); };
    EXPECT_EQ(refused(labels(64, 1, 1)), "");
    EXPECT_EQ(refused(labels(3, 128, 4'000)), "");
    EXPECT_EQ(refused(labels(65, 1, 1)), "labels: must have at most 64 members");
    EXPECT_TRUE(refused(labels(1, 129, 1)).starts_with("labels: the name of a label"));
    EXPECT_TRUE(refused(labels(1, 1, 4'097)).starts_with("labels: each label must be at most"));
    EXPECT_TRUE(refused(labels(5, 1, 4'000)).starts_with("labels: must be at most 16384 bytes"));
    EXPECT_TRUE(refused(Json::trusted(R"({"a":1})")).starts_with("labels: each label must be a"));
    Create create;
    create.labels = labels(65, 1, 1);
    EXPECT_NE(refusal(create), "");
    create.fork = Create::ForkOf{};
    EXPECT_EQ(refusal(create), "") << "a fork of an older session";
}

TEST(Admit, Value_LineBreaksAndOuterSpaces_AreRemoved) {
    Command command;
    command.body = submit_of(Json::trusted(" {\n \"a\": 1\r\n} "));
    ASSERT_TRUE(admit(command));
    EXPECT_EQ(std::get<Submit>(command.body).what.output.text(), R"({"a":1})");
}

TEST(Admit, ToolOutput_ThatIsNotJson_BecomesTheToolsFailure) {
    for (Json const& bad : bad_values()) {
        auto const outcome = admitted(ToolOutcome{{}, 1, Done{bad, {}, {}}});
        auto const* failed = std::get_if<Failed>(&outcome.what);
        ASSERT_TRUE(failed);
        EXPECT_TRUE(failed->message.starts_with("the tool's output is not JSON: "));
        EXPECT_FALSE(failed->nothing_done);
    }
    PauseTerms pause;
    pause.state = Json::trusted("{");
    auto const outcome = admitted(ToolOutcome{{}, 1, pause});
    EXPECT_TRUE(std::holds_alternative<Failed>(outcome.what));
    auto const poll = admitted(PollOutcome{{}, 1, Done{Json::trusted("["), {}, {}}});
    EXPECT_TRUE(std::holds_alternative<Failed>(poll.what));
}

TEST(Admit, ToolOutput_ThatIsNotUtf8_IsRepaired) {
    auto const outcome = admitted(ToolOutcome{{}, 1, Done{not_utf8, bad_text, {}}});
    auto const& done = std::get<Done>(outcome.what);
    EXPECT_EQ(done.output.text(), "{\"a\":\"\uFFFD\"}");
    EXPECT_EQ(done.title, "\uFFFD\uFFFD go");
    auto const failed = admitted(ToolOutcome{{}, 1, Failed{bad_text}});
    EXPECT_EQ(std::get<Failed>(failed.what).message, "\uFFFD\uFFFD go");
}

TEST(Admit, GateAndInterceptor_WithAValueThatIsNotJson_Refuse) {
    auto const gate = admitted(GateOutcome{1, "g", GateOutcome::Allow{Json::trusted("{"), {}}});
    ASSERT_TRUE(std::holds_alternative<GateOutcome::Deny>(gate.what));
    EXPECT_TRUE(std::get<GateOutcome::Deny>(gate.what).message.starts_with("the gate's input"));
    auto const turn = admitted(TurnOutcome{1, false, {}, Json::trusted("[")});
    EXPECT_TRUE(turn.refused && turn.refused->starts_with("the interceptor's context"));
    auto const out = admitted(TurnOutcome{1, true, {}, Json::trusted("[")});
    EXPECT_FALSE(out.refused);
    EXPECT_TRUE(out.context.is_null());
}

TEST(Admit, ModelReply_ThatIsNotJson_IsTheModelsFailure) {
    Command command;
    command.body = ModelReply{1, 1, 1, FinishReason::stop, Json::trusted("["), {}, {}};
    ASSERT_TRUE(admit(command));
    auto const* failure = std::get_if<ModelFailure>(&command.body);
    ASSERT_TRUE(failure);
    EXPECT_FALSE(failure->may_retry);
    CallSpec call;
    call.input = Json::trusted("{}");
    call.tool = bad_text;
    auto const reply =
        admitted(ModelReply{1, 1, 1, FinishReason::stop, Json::trusted("[]"), {call}, {}});
    EXPECT_EQ(reply.calls.at(0).tool, "\uFFFD\uFFFD go");
}

TEST(Admit, ExternalAgent_WithAValueThatIsNotJson_LosesThatValueOnly) {
    AgentReport report;
    report.what.body = Json::trusted("{");
    report.what.title = bad_text;
    auto const out = admitted(report);
    EXPECT_TRUE(out.what.body.is_null());
    EXPECT_EQ(out.what.title, "\uFFFD\uFFFD go");
    AgentReply reply;
    reply.last = report.what;
    EXPECT_FALSE(admitted(reply).last);
}

}  // namespace
}  // namespace dormouse::wire
