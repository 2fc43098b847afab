#include "mcp_client/testing/connection_fixture.h"

namespace dormouse::mcp_client {
namespace {

using testing::ConnectionTest;

class McpSampling : public ConnectionTest {
protected:
    McpSampling() : ConnectionTest({.name = "s", .argv = {"server"}, .sampling = true}) {}
    void ask(std::string const& params = R"({"systemPrompt":"Be brief.","messages":[)"
                                         R"({"role":"user","content":{"type":"text",)"
                                         R"("text":"Hi?"}}],"maxTokens":9})") {
        processes.say(R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":)" +
                      params + "}");
    }
    void decide(bool approved) {
        decision.emplace();
        decision->kind = session::SubmissionKind::decision;
        decision->approved = approved;
    }
    static constexpr auto hi = R"({"content":[{"type":"text","text":"hi"}]})";
};

TEST_F(McpSampling, Request_IsApprovedAndTheModelAnswers) {
    connect();
    EXPECT_TRUE(processes.newest().lines.front().contains(R"("sampling":{})"));
    auto const first = call();
    ask();
    EXPECT_EQ(results.back(),
              "asks: The MCP server 's' asks: the model of this agent is to answer this:\n\n"
              "[instructions] Be brief.\n\n[user] Hi?");
    EXPECT_EQ(questions.size(), 0U);
    decide(true);
    auto const again = call();
    ASSERT_EQ(questions.size(), 1U);
    EXPECT_EQ(questions.back().instructions, "Be brief.");
    EXPECT_EQ(questions.back().view.messages.at(0).parts.text(),
              R"([{"type":"text","text":"Hi?"}])");
    model_done(agent::Reply{.text = "Hello.", .calls = {}, .usage = {}});
    EXPECT_TRUE(last_line().contains(
        R"("id":"q","result":{"role":"assistant","content":{"type":"text","text":"Hello."})"))
        << last_line();
    processes.answer("tools/call", hi);
    EXPECT_EQ(results.back(), R"("hi")");
}

TEST_F(McpSampling, Denial_IsRefused) {
    connect();
    auto const first = call();
    ask();
    decide(false);
    auto const again = call();
    EXPECT_TRUE(last_line().contains(R"("error":{"code":-1,)")) << last_line();
    EXPECT_EQ(questions.size(), 0U);
}

TEST_F(McpSampling, Requests_WithoutEnd_AreBounded) {
    connect();
    auto stop = call();
    decide(true);
    for (unsigned i = 0; i < Calls::questions_max; ++i) {
        ask();
        stop = call();
        model_done(agent::ModelTrouble{.error = {"overloaded", "busy"}});
        EXPECT_TRUE(last_line().contains("the model has failed: busy")) << last_line();
    }
    ask();
    EXPECT_TRUE(last_line().contains("at most 10 questions")) << last_line();
    EXPECT_EQ(questions.size(), Calls::questions_max);
}

TEST_F(McpSampling, Call_ThatEnds_StopsTheModel) {
    connect();
    auto const first = call();
    ask();
    decide(true);
    auto stop = call();
    processes.answer("tools/call", hi);
    EXPECT_EQ(results.back(), R"("hi")");
    EXPECT_EQ(models_stopped, 1);
}

TEST_F(McpSampling, Request_WithMoreThanText_IsRefused) {
    connect();
    auto const first = call();
    for (auto const& [params, says] : std::initializer_list<std::pair<std::string, std::string>>{
             {R"({})", "1 to 100 messages"},
             {R"({"messages":[]})", "1 to 100 messages"},
             {R"({"messages":[{"role":"user","content":{"type":"image"}}]})", "only text"},
             {R"({"messages":[{"role":"tool","content":{"type":"text","text":"x"}}]})", "role"},
             {R"({"messages":[{"role":"user","content":{"type":"text","text":")" +
                  std::string(sample_bytes_max, 'x') + R"("}}]})",
              "at most 16,000 bytes"}}) {
        ask(params);
        EXPECT_TRUE(last_line().contains("-32602") && last_line().contains(says)) << last_line();
    }
    EXPECT_EQ(results.size(), 0U);
}

class McpNoSampling : public ConnectionTest {};

TEST_F(McpNoSampling, Sampling_IsRefusedByDefault) {
    connect();
    EXPECT_FALSE(processes.newest().lines.front().contains("sampling"));
    auto const first = call();
    processes.say(R"({"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}})");
    EXPECT_TRUE(last_line().contains("this client does not offer sampling/createMessage"));
}

}  // namespace
}  // namespace dormouse::mcp_client
