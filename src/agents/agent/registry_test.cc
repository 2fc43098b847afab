#include "agent/demo.h"
#include "agent/tool.h"

#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::agent {
namespace {

using namespace session;

class RegistryTest : public ::testing::Test {
protected:
    RegistryTest() { add_demo_agents(registry); }
    [[nodiscard]] CallSpec prepare(std::string tool, std::string input) const {
        return registry.prepare(*registry.agent("demo"),
                                {"demo_0", std::move(tool), Json::trusted(std::move(input))});
    }
    // Returns the decision of the demo's gate.
    [[nodiscard]] GateDecision decide(std::optional<Submission> decision) const {
        return registry.gate("approval")
            ->decide({"dangerous", Json::trusted(R"({"action":"X"})"), std::move(decision)});
    }

    Registry registry;
};

TEST_F(RegistryTest, DemoAgents_DifferOnlyInJoin) {
    Agent const* const demo = registry.agent("demo");
    Agent const* const each = registry.agent("demo-each");
    ASSERT_TRUE(demo && each);
    EXPECT_EQ(demo->terms.join, (Join{0, false}));
    EXPECT_EQ(each->terms.join, (Join{1, false}));
    EXPECT_EQ(demo->tools, each->tools);
    EXPECT_EQ(registry.agents().size(), 2U);
    EXPECT_EQ(registry.agent("nobody"), nullptr);
    EXPECT_EQ(registry.tool("nothing"), nullptr);
    EXPECT_EQ(registry.gate("none"), nullptr);
}

TEST_F(RegistryTest, Call_GetsTheTermsOfItsTool) {
    CallSpec const spec = prepare("sleepy", R"({"for":"2s"})");
    EXPECT_EQ(spec.model_id, "demo_0");
    EXPECT_FALSE(spec.refused);
    EXPECT_FALSE(spec.at_once);
    EXPECT_EQ(spec.terms.crash, CrashPolicy::retry);
    EXPECT_EQ(prepare("sleepy_never", R"({"for":"2s"})").terms.crash, CrashPolicy::never);
    EXPECT_EQ(prepare("dangerous", R"({"action":"X"})").terms.gates,
              std::vector<std::string>{"approval"});
}

TEST_F(RegistryTest, Input_IsCompactAndItsDigestCanonical) {
    CallSpec const a = prepare("deploy", "{ \"target\" : \"A\",\n\"within\":\"5s\" }");
    CallSpec const b = prepare("deploy", R"({"within":"5s","target":"A"})");
    EXPECT_EQ(a.input.text(), R"({"target":"A","within":"5s"})");
    EXPECT_EQ(a.input_digest, b.input_digest);
    EXPECT_NE(a.input_digest, prepare("deploy", R"({"target":"B"})").input_digest);
    EXPECT_EQ(digest_text(prepare("deploy", R"({"target":"A"})").input_digest),
              "sha256:b036ba8d5d066c7896b84aced286f17130a153cd8b3064c2791613f1ba0fa453");
}

TEST_F(RegistryTest, RegisteringTool_PausesWithTheCall) {
    CallSpec const deploy = prepare("deploy", R"({"target":"A","within":"5s"})");
    ASSERT_TRUE(deploy.at_once);
    EXPECT_EQ(deploy.at_once->placeholder.text(), R"({"status":"queued","target":"A"})");
    EXPECT_EQ(deploy.at_once->timeout, Duration(5'000));
    EXPECT_FALSE(prepare("deploy", R"({"target":"A"})").at_once->timeout);
    CallSpec const ask = prepare("ask_human", R"({"question":"Q"})");
    EXPECT_EQ(ask.at_once->reason, PauseReason::user_input);
    EXPECT_EQ(ask.at_once->message, "Q");
    EXPECT_TRUE(ask.at_once->form.is_null());
    std::string const choices = R"("choices":[{"title":"a","description":"b"}]})";
    CallSpec const choose = prepare("ask_human", R"({"question":"Q",)" + choices);
    EXPECT_EQ(choose.at_once->form.text(), "{" + choices);
    CallSpec const wait = prepare("wait_for", R"({"for":"3m"})");
    EXPECT_EQ(wait.at_once->timeout, Duration(180'000));
    EXPECT_EQ(wait.at_once->on_deadline, OnDeadline::done);
}

TEST_F(RegistryTest, AskHuman_WithSchemaAndFiles_PausesWithThem) {
    CallSpec const ask =
        prepare("ask_human",
                R"({"question":"Q","files":true,"schema":{"type":"object","required":["n"]}})");
    ASSERT_TRUE(ask.at_once);
    EXPECT_EQ(ask.at_once->schema.text(), R"({"type":"object","required":["n"]})");
    EXPECT_EQ(ask.at_once->files, 8U);
    EXPECT_EQ(prepare("ask_human", R"({"question":"Q","files":false})").at_once->files, 0U);
}

TEST_F(RegistryTest, AskHuman_UnusableSchema_IsRefused) {
    CallSpec const cycle =
        prepare("ask_human", R"({"question":"Q","schema":{"$ref":"#/definitions/no"}})");
    EXPECT_FALSE(cycle.at_once);
    EXPECT_TRUE(cycle.refused->starts_with("the schema of the answer: ")) << *cycle.refused;
    std::string const words(40'000, 'x');
    CallSpec const large =
        prepare("ask_human", R"({"question":"Q","schema":{"description":")" + words + "\"}}");
    EXPECT_EQ(large.refused, "the schema of the answer must be at most 32 KiB");
    EXPECT_TRUE(prepare("ask_human", R"({"question":"Q","schema":7})").refused);
}

// The core CHECKs the terms of each pause, so no built-in tool may make an invalid one.
TEST_F(RegistryTest, Tools_DeclareThePausesTheyMake) {
    for (auto const& [tool, input] :
         std::map<std::string, std::string>{{"deploy", R"({"target":"A"})"},
                                            {"approve_deploy", R"({"target":"A"})"},
                                            {"ask_human", R"({"question":"Q"})"},
                                            {"wait_for", R"({"for":"5s"})"}}) {
        CallSpec const spec = prepare(tool, input);
        ASSERT_TRUE(spec.at_once) << tool;
        EXPECT_TRUE(allowed(spec.at_once->reason, spec.at_once->continuation)) << tool;
        EXPECT_TRUE(spec.terms.may_pause_for(spec.at_once->reason)) << tool;
    }
}

TEST_F(RegistryTest, Declarations_AreSharedUntilAListChanges) {
    Agent const* const demo = registry.agent("demo");
    auto const before = registry.declarations(*demo);
    ASSERT_EQ(before->size(), demo->tools.size());
    EXPECT_EQ(before->front().schema, registry.tool(before->front().name)->schema);
    EXPECT_EQ(registry.declarations(*demo), before);
    Agent other;
    other.id = "demo";
    other.tools = {"fail", "unknown"};
    auto const of_other = registry.declarations(other);  // as one of an exchanged catalogue
    ASSERT_EQ(of_other->size(), 1U);
    EXPECT_EQ(of_other->front().name, "fail");
    EXPECT_EQ(registry.declarations(*demo), before);
    registry.add(Tool{.name = "later",
                      .description = "",
                      .schema = Json::trusted("{}"),
                      .run = [](ToolCall const&, std::stop_token) -> ToolResult { return {}; }});
    EXPECT_NE(registry.declarations(*demo), before);
    EXPECT_EQ(before->size(), demo->tools.size()) << "what a request has stays";
}

TEST_F(RegistryTest, UnknownTool_IsRefusedWithNearestName) {
    EXPECT_EQ(prepare("deplpy", "{}").refused, "unknown tool 'deplpy'; did you mean 'deploy'?");
    EXPECT_EQ(prepare("quantum", "{}").refused, "unknown tool 'quantum'");
}

TEST_F(RegistryTest, ToolOfAnotherAgent_IsUnknown) {
    Agent small;
    small.id = "small";
    small.tools = {"fail"};
    EXPECT_TRUE(
        registry.prepare(small, {"", "deploy", Json::trusted(R"({"target":"A"})")}).refused);
    EXPECT_FALSE(registry.prepare(small, {"", "fail", Json::trusted("{}")}).refused);
}

TEST_F(RegistryTest, InvalidArguments_AreRefusedWithPointer) {
    for (std::string const& input :
         {std::string("{}"), std::string(R"({"target":7})"), std::string("[]"),
          std::string(R"({"target":"A","speed":"fast"})")}) {
        CallSpec const spec = prepare("deploy", input);
        ASSERT_TRUE(spec.refused) << input;
        EXPECT_TRUE(spec.refused->starts_with("the arguments do not fit: ")) << *spec.refused;
        EXPECT_FALSE(spec.refused->ends_with(";"));
        EXPECT_FALSE(spec.at_once);
    }
    EXPECT_NE(prepare("deploy", R"({"target":7})").refused->find("/target"), std::string::npos);
}

TEST_F(RegistryTest, Gate_AsksOnce_AnswerIsTheDecision) {
    GateDecision const first = decide(std::nullopt);
    auto const* pause = std::get_if<PauseTerms>(&first);
    ASSERT_NE(pause, nullptr);
    EXPECT_EQ(pause->reason, PauseReason::approval);
    EXPECT_TRUE(allowed(pause->reason, pause->continuation));
    EXPECT_EQ(pause->message, R"(Allow dangerous {"action":"X"}?)");
    Submission decision;
    decision.kind = SubmissionKind::decision;
    GateDecision const no = decide(decision);
    EXPECT_EQ(std::get<Deny>(no).message, "denied: no reason given");
    decision.reason = "not on Friday";
    EXPECT_EQ(std::get<Deny>(decide(decision)).message, "denied: not on Friday");
    decision.approved = true;
    EXPECT_FALSE(std::get<Allow>(decide(decision)).input);
    decision.arguments = Json::trusted(R"({"action":"Y"})");
    EXPECT_EQ(std::get<Allow>(decide(decision)).input->text(), R"({"action":"Y"})");
}

TEST_F(RegistryTest, DemoTools_ReturnWhatTheyDescribe) {
    auto const run = [&](std::string const& tool, std::string input, std::uint32_t attempt) {
        return registry.tool(tool)->run({{}, attempt, Json::trusted(std::move(input))}, {});
    };
    EXPECT_EQ(std::get<Done>(run("dangerous", R"({"action":"X"})", 2)).output.text(),
              R"({"done":"X","runs":2})");
    EXPECT_EQ(std::get<Failed>(run("fail", "{}", 1)).message, "this tool always fails");
    EXPECT_EQ(std::get<Done>(run("sleepy", R"({"for":"1ms"})", 1)).output.text(), "\"slept 1ms\"");
    std::stop_source stop;
    stop.request_stop();
    auto const stopped =
        registry.tool("sleepy")->run({{}, 1, Json::trusted(R"({"for":"1h"})")}, stop.get_token());
    EXPECT_EQ(std::get<Failed>(stopped).message, "stopped");
}

}  // namespace
}  // namespace dormouse::agent
