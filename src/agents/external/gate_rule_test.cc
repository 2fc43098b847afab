#include "external/gate_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::external {
namespace {

using namespace session;

class GateRuleTest : public ::testing::Test {
protected:
    GateRuleTest() {
        rule.name = "deploys";
        rule.tools = {"deploy", "mcp:files/*"};
        rule.ask = "Deploy {input.ref}?";
        call.tool = "deploy";
        call.input = Json::trusted(R"({"ref":"main","force":true})");
    }
    agent::GateDecision decide() { return make_gate(rule).decide(call); }
    agent::GateDecision decided(bool approved, std::string reason = {}, Json arguments = {}) {
        call.decision.emplace();
        call.decision->kind = SubmissionKind::decision;
        call.decision->approved = approved;
        call.decision->reason = std::move(reason);
        call.decision->arguments = std::move(arguments);
        return decide();
    }
    GateRule rule;
    agent::GateCall call;
};

TEST_F(GateRuleTest, Gate_AsksWithTheConfiguredTerms) {
    rule.answer = {{"alice", "role:answer"}, 2, true};
    rule.timeout = Duration(1'000);
    auto const decision = decide();
    ASSERT_TRUE(std::holds_alternative<PauseTerms>(decision));
    auto const& pause = std::get<PauseTerms>(decision);
    EXPECT_EQ(pause.reason, PauseReason::approval);
    EXPECT_EQ(pause.continuation, Continuation::reentry);
    EXPECT_EQ(pause.message, "Deploy main?");
    EXPECT_EQ(pause.answer, rule.answer);
    EXPECT_EQ(pause.timeout, Duration(1'000));
    EXPECT_EQ(pause.on_deadline, OnDeadline::deny);
}

TEST_F(GateRuleTest, When_AsksOnlyIfTheConditionsMayHold) {
    rule.when = {{"/ref", {}, "^release/"}};
    EXPECT_TRUE(std::holds_alternative<agent::Allow>(decide()));
    EXPECT_FALSE(std::get<agent::Allow>(decide()).input);
    for (auto const* const input : {R"({"ref":"release/1"})", R"({})", R"({"ref":7})"}) {
        call.input = Json::trusted(input);
        EXPECT_TRUE(std::holds_alternative<PauseTerms>(decide())) << input;
    }
    call.input = Json::trusted(R"({"ref":"main"})");
    EXPECT_EQ(std::get<agent::Deny>(decided(false, "no")).message, "denied: no")
        << "the answer counts, whatever the conditions are by then";
}

TEST_F(GateRuleTest, Gate_AnswerIsTheDecision) {
    auto const yes = decided(true);
    ASSERT_TRUE(std::holds_alternative<agent::Allow>(yes));
    EXPECT_FALSE(std::get<agent::Allow>(yes).input);
    EXPECT_EQ(std::get<agent::Deny>(decided(false)).message, "denied: no reason given");
    EXPECT_EQ(std::get<agent::Deny>(decided(false, "friday")).message, "denied: friday");
    auto const edited = decided(true, {}, Json::trusted(R"({"ref":"v1"})"));
    EXPECT_EQ(std::get<agent::Allow>(edited).input->text(), R"({"ref":"v1"})");
}

TEST_F(GateRuleTest, Question_ReplacesValues) {
    auto const fill = [&](std::string_view text) { return fill_question(text, "t", call.input); };
    EXPECT_EQ(fill("{tool} {input}"), R"(t {"ref":"main","force":true})");
    EXPECT_EQ(fill("{input.force} {input.no}"), "true (none)");
    EXPECT_EQ(fill("{other} { } {"), "{other} { } {");
    EXPECT_EQ(fill("{ {input.ref}}"), "{ main}");
    EXPECT_EQ(fill(""), "");
    call.input = Json::trusted(R"({"ref":"{input.force}"})");
    EXPECT_EQ(fill("{input.ref}"), "{input.force}") << "braces in values are not replaced";
}

TEST_F(GateRuleTest, Question_HasLengthLimitAndDefault) {
    call.input = Json::trusted(R"({"ref":")" + std::string(100'000, 'x') + "\"}");
    EXPECT_LT(std::get<PauseTerms>(decide()).message.size(), 5'000U);
    rule.ask = "";
    call.input = Json::trusted("{}");
    EXPECT_EQ(std::get<PauseTerms>(decide()).message, "Allow deploy {}?");
}

class RegistryGates : public ::testing::Test {
protected:
    static agent::Gate gate(std::string name, std::vector<std::string> tools) {
        GateRule rule;
        rule.name = std::move(name);
        rule.tools = std::move(tools);
        return make_gate(std::move(rule));
    }
    std::vector<std::string> gates_of(std::string tool_name, std::vector<std::string> own = {}) {
        agent::Tool tool;
        tool.name = tool_name;
        tool.schema = Json::trusted("{}");
        tool.terms.gates = std::move(own);
        tool.run = [](agent::ToolCall const&, std::stop_token) -> agent::ToolResult {
            return agent::Failed{"not run"};
        };
        registry.add(std::move(tool));
        agent::Agent agent;
        agent.id = "a";
        agent.tools = {tool_name};
        return registry.prepare(agent, {"1", tool_name, Json::trusted("{}")}).terms.gates;
    }
    agent::Registry registry;
};

TEST_F(RegistryGates, PatternGates_ComeInFileOrderBeforeTheToolsOwn) {
    registry.add(gate("one", {"mcp:files/write_*"}));
    registry.add(gate("two", {"*"}));
    registry.add(gate("own", {"other"}));
    EXPECT_THAT(gates_of("mcp:files/write_all", {"own", "two"}),
                testing::ElementsAre("one", "two", "own"));
    EXPECT_THAT(gates_of("deploy"), testing::ElementsAre("two"));
}

TEST(FitsPattern, Star_MatchesAnyText) {
    EXPECT_TRUE(agent::fits_pattern("deploy", "deploy"));
    EXPECT_TRUE(agent::fits_pattern("*", ""));
    EXPECT_TRUE(agent::fits_pattern("a*c*e", "abcde"));
    EXPECT_TRUE(agent::fits_pattern("a*", "a"));
    EXPECT_TRUE(agent::fits_pattern("*ab", "aaab"));
    EXPECT_FALSE(agent::fits_pattern("deploy", "deploys"));
    EXPECT_FALSE(agent::fits_pattern("deploy*", "redeploy"));
    EXPECT_FALSE(agent::fits_pattern("", "a"));
    EXPECT_FALSE(agent::fits_pattern("d.ploy", "deploy"));
    EXPECT_FALSE(agent::fits_pattern("a*b", "a"));
    EXPECT_FALSE(agent::fits_pattern(std::string(40, '*') + "b", std::string(5'000, 'a')));
}

TEST_F(GateRuleTest, Pause_NamesWhoIsAskedAfterTheDeadline) {
    rule.timeout = Duration(1'000);
    rule.escalate_to = {"bob"};
    EXPECT_EQ(std::get<PauseTerms>(decide()).escalate_to, std::vector<std::string>{"bob"});
}

}  // namespace
}  // namespace dormouse::external
