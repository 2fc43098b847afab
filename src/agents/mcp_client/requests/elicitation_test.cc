#include "mcp_client/requests/holder.h"
#include "mcp_client/testing/connection_fixture.h"

namespace dormouse::mcp_client {
namespace {

using session::SubmissionKind;
using testing::ConnectionTest;

class McpElicitation : public ConnectionTest {
protected:
    void ask(std::string const& params, std::string const& id = "\"q\"") {
        processes.say(R"({"jsonrpc":"2.0","id":)" + id +
                      R"(,"method":"elicitation/create","params":)" + params + "}");
    }
    void ask_name(std::string const& id = "\"q\"") {
        ask(R"({"message":"Who?","requestedSchema":{"type":"object","properties":)"
            R"({"name":{"type":"string"}},"required":["name"]}})",
            id);
    }
    void decide(bool approved, std::string const& content = "") {
        decision.emplace();
        decision->kind = SubmissionKind::decision;
        decision->approved = approved;
        if (!content.empty()) decision->content = Json::trusted(content);
    }
    static session::Receipt receipt(SubmissionKind kind) {
        return {.pending = {SessionId{}, 7, 2}, .kind = kind};
    }
    static constexpr auto hi = R"({"content":[{"type":"text","text":"hi"}]})";
    static constexpr auto asks_name = "asks: The MCP server 's' asks: Who?";
};

TEST_F(McpElicitation, Form_IsAPauseAndItsAnswerGoesBack) {
    connect();
    EXPECT_TRUE(processes.newest().lines.front().contains(R"("elicitation":{"form":{},"url":{}})"));
    auto const first = call();
    ask_name();
    EXPECT_EQ(results, std::vector<std::string>{asks_name});
    decide(true, R"({"name":"Ann"})");
    auto const again = call();
    EXPECT_EQ(
        last_line(),
        R"({"jsonrpc":"2.0","id":"q","result":{"action":"accept","content":{"name":"Ann"}}})");
    processes.answer("tools/call", hi);
    EXPECT_EQ(results.back(), R"("hi")");
    EXPECT_EQ(processes.methods(), "initialize notifications/initialized tools/list tools/call");
}

TEST_F(McpElicitation, Url_IsTextAndApproved) {
    connect();
    auto const first = call();
    ask(R"({"mode":"url","message":"Sign in.","url":"https://a.example/x","elicitationId":"1"})");
    EXPECT_TRUE(results.at(0).ends_with("approve when it is done: https://a.example/x"));
    decide(true);
    auto const again = call();
    EXPECT_TRUE(last_line().contains(R"("result":{"action":"accept"})"));
}

TEST_F(McpElicitation, Denial_Declines) {
    connect();
    auto const first = call();
    ask_name();
    decide(false);
    auto const again = call();
    EXPECT_TRUE(last_line().contains(R"("result":{"action":"decline"})"));
}

// Other processes have other connections, on which nothing was asked.
TEST_F(McpElicitation, Pause_NamesTheProcessThatHasTheConnection) {
    holder = 12;
    connect();
    auto const first = call();
    ask_name();
    EXPECT_EQ(holder_in(state), 12U);
    decide(true, R"({"name":3})");
    auto const again = call();
    EXPECT_EQ(holder_in(state), 12U) << "of the question that is asked again";
    EXPECT_TRUE(question_in(state));
}

TEST_F(McpElicitation, DeletedSession_CancelsItsQuestions) {
    connect();
    auto const first = call();
    ask_name();
    connection.calls().deleted(SessionId::make(1, {}));
    EXPECT_EQ(processes.newest().lines.back().find("cancel"), std::string::npos) << "another one";
    delete_session();
    std::string sent;
    for (std::string const& line : processes.newest().lines) sent += line + "\n";
    EXPECT_TRUE(sent.contains(R"("id":"q","result":{"action":"cancel"})")) << sent;
    EXPECT_TRUE(last_line().contains("notifications/cancelled")) << last_line();
}

TEST_F(McpElicitation, AnswerThatDoesNotFit_IsAskedForAgain) {
    connect();
    auto const first = call();
    ask_name();
    decide(true, R"({"name":3})");
    auto const before = processes.newest().lines.size();
    auto const again = call();
    EXPECT_TRUE(results.back().starts_with("asks: The answer does not fit: ")) << results.back();
    EXPECT_EQ(processes.newest().lines.size(), before);
    decide(true, R"({"name":"Ann"})");
    auto const third = call();
    EXPECT_TRUE(last_line().contains(R"("action":"accept")"));
}

TEST_F(McpElicitation, CancelOrExpiry_CancelsTheCall) {
    for (auto const kind : {SubmissionKind::cancel, SubmissionKind::expiry}) {
        if (connection.phase() == Phase::down) connect();
        decision.reset();
        auto const first = call();
        ask_name();
        connection.calls().closed(receipt(SubmissionKind::decision));
        auto const before = processes.newest().lines.size();
        connection.calls().closed(receipt(kind));
        ASSERT_EQ(processes.newest().lines.size(), before + 2);
        EXPECT_TRUE(processes.newest().lines[before].contains(R"("result":{"action":"cancel"})"));
        EXPECT_TRUE(last_line().contains("notifications/cancelled"));
    }
    auto const forgotten = call();
    ask_name();
    pass(Duration(86'400'000) + Calls::answer_slack);
    EXPECT_TRUE(last_line().contains("notifications/cancelled")) << "nothing waits forever";
}

TEST_F(McpElicitation, Server_ThatAnswersFirst_EndsTheCallAfterTheDecision) {
    connect();
    auto const first = call();
    ask_name();
    processes.answer("tools/call", hi);
    EXPECT_EQ(results.size(), 1U);
    decide(true, R"({"name":"Ann"})");
    auto const before = processes.newest().lines.size();
    auto const again = call();
    EXPECT_EQ(results.back(), R"("hi")");
    EXPECT_EQ(processes.newest().lines.size(), before) << "nobody waits for the answer";
}

TEST_F(McpElicitation, Answer_AfterTheServerDied_IsInDoubt) {
    connect();
    auto const first = call();
    ask_name();
    processes.die("out of memory");
    loop.run();
    decide(true, R"({"name":"Ann"})");
    auto const again = call();
    EXPECT_TRUE(results.back().starts_with("in doubt: MCP server 's': its program was ended"));
    auto const third = call();
    EXPECT_TRUE(results.back().contains("the connection on which it was asked had ended"));
}

TEST_F(McpElicitation, RepeatableCall_KeepsTheAnswerForANewConnection) {
    std::string const reads = R"({"tools":[{"name":"a","inputSchema":{"type":"object"},)"
                              R"("annotations":{"readOnlyHint":true}}]})";
    connect_as(R"({"protocolVersion":"2025-06-18"})", reads);
    auto const first = call();
    ask_name();
    processes.die();
    loop.run();
    pass(Duration(1'000));
    connect_as(R"({"protocolVersion":"2025-06-18"})", reads);
    decide(true, R"({"name":"Ann"})");
    auto const lost = call();
    EXPECT_TRUE(results.back().starts_with("in doubt"));
    auto const again = call();
    ask_name("\"r\"");
    EXPECT_TRUE(last_line().contains(R"("id":"r","result":{"action":"accept")")) << last_line();
    EXPECT_EQ(results.size(), 2U) << "the person is not asked again";
    ask_name("\"t\"");
    EXPECT_EQ(results.back(), asks_name) << "an answer holds once";
}

TEST_F(McpElicitation, KeptAnswerThatDoesNotFit_IsAskedForAgain) {
    connect_as(R"({"protocolVersion":"2025-06-18"})",
               R"({"tools":[{"name":"a","inputSchema":{"type":"object"},)"
               R"("annotations":{"readOnlyHint":true}}]})");
    auto const first = call();
    ask_name();
    connection.calls().closed(receipt(SubmissionKind::expiry));
    decide(true, R"({"name":3})");
    auto const again = call();
    ask_name();
    EXPECT_EQ(results, (std::vector<std::string>{asks_name, asks_name}));
}

TEST_F(McpElicitation, BadQuestions_AreRefused) {
    connect();
    auto const first = call();
    auto const form = [](std::string const& schema) {
        return R"({"message":"m","requestedSchema":)" + schema + "}";
    };
    for (auto const& [params, says] : std::vector<std::pair<std::string, std::string>>{
             {"{}", "message must not be empty"},
             {R"({"message":3,"requestedSchema":{"type":"object"}})", "message must not be empty"},
             {R"({"message":"m"})", "requestedSchema must be an object"},
             {form("[]"), "requestedSchema must be an object"},
             {form(R"({"type":"string"})"), "requestedSchema must have the type object"},
             {form(R"({"type":"object","properties":3})"), "requestedSchema is invalid"},
             {R"({"mode":"voice","message":"m"})", "mode must be form or url"},
             {R"({"mode":"url","message":"m","url":"javascript:x"})", "url "},
             {R"({"mode":"url","message":"m"})", "url "},
         }) {
        ask(params);
        EXPECT_TRUE(last_line().contains("-32602")) << params << " " << last_line();
        EXPECT_TRUE(last_line().contains(says)) << params << " " << last_line();
    }
    EXPECT_TRUE(results.empty());
}

TEST_F(McpElicitation, Questions_WithoutEnd_AreBounded) {
    connect();
    auto stop = call();
    decide(true, R"({"name":"Ann"})");
    for (unsigned i = 0; i < Calls::questions_max; ++i) {
        ask_name();
        ask_name("\"second\"");
        EXPECT_TRUE(last_line().contains("the call asks another question already"));
        stop = call();
    }
    ask_name();
    EXPECT_TRUE(last_line().contains("a call may ask at most 10 questions"));
    EXPECT_EQ(results.size(), Calls::questions_max);
}

TEST_F(McpElicitation, QuestionOfNoCallOrATask_AsksNobody) {
    connect();
    ask_name();
    EXPECT_TRUE(last_line().contains("it is not known to which call this question belongs"));
    auto const one = call();
    auto const two = call();
    ask_name();
    EXPECT_TRUE(last_line().contains("it is not known to which call this question belongs"));
    ask(R"({"message":"m","requestedSchema":{"type":"object"},)"
        R"("_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}})");
    EXPECT_TRUE(last_line().contains("no call waits for this task"));
    EXPECT_TRUE(results.empty());
}

TEST_F(McpElicitation, Sampling_IsRefused) {
    connect();
    auto const stop = call();
    processes.say(R"({"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}})");
    EXPECT_TRUE(last_line().contains("this client does not offer sampling/createMessage"));
}

}  // namespace
}  // namespace dormouse::mcp_client
