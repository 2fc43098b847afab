// Servers that know only 2026-07-28.
#include "mcp_client/testing/connection_fixture.h"

namespace dormouse::mcp_client {
namespace {

using testing::ConnectionTest;
using testing::tools_a;

constexpr auto discovered = R"({"supportedVersions":["2026-07-28"],"capabilities":)"
                            R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})";

class McpStateless : public ConnectionTest {
protected:
    using ConnectionTest::ConnectionTest;
    void connect_stateless() {
        connection.start();
        processes.refuse("initialize", -32601, "unknown method");
        processes.answer("server/discover", discovered);
        processes.answer("tools/list",
                         R"({"resultType":"complete","ttlMs":1,"tools":[{"name":"a","inputSchema":)"
                         R"({"type":"object"}}]})");
        loop.run();
    }
    void decide(bool approved, std::string const& content) {
        decision.emplace();
        decision->kind = session::SubmissionKind::decision;
        decision->approved = approved;
        decision->content = Json::trusted(content);
    }
    static std::string question(std::string const& key, std::string const& text) {
        return "\"" + key + R"(":{"method":"elicitation/create","params":{"message":")" + text +
               R"(","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}})";
    }
    static std::string needs(std::string const& requests, std::string const& more = "") {
        return R"({"resultType":"input_required","inputRequests":{)" + requests + "}" + more + "}";
    }
};

TEST_F(McpStateless, Requests_SayTheirVersionAndWhatIsOffered) {
    connect_stateless();
    EXPECT_EQ(connection.phase(), Phase::ready);
    EXPECT_EQ(processes.methods(), "initialize server/discover tools/list");
    auto const stop = call();
    for (auto const* const part :
         {R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")", R"("progressToken":"1")",
          R"("io.modelcontextprotocol/tasks":{})", R"("elicitation":{"form":{},"url":{}})",
          R"("io.modelcontextprotocol/clientInfo":{"name":"dormouse")"})
        EXPECT_TRUE(last_line().contains(part)) << part << last_line();
    processes.answer("tools/call",
                     R"({"resultType":"complete","content":[{"type":"text","text":"hi"}]})");
    EXPECT_EQ(results.back(), R"("hi")");
    pass(Duration(60'000));
    pass(Duration(1'000));
    EXPECT_TRUE(last_line().contains("tools/list")) << "its list held for a minute";
    EXPECT_TRUE(warnings.empty());
}

TEST_F(McpStateless, ChangesOfTheList_AreFollowed) {
    connection.start();
    processes.refuse("initialize", -32601, "unknown method");
    processes.answer("server/discover", R"({"supportedVersions":["2026-07-28"],"capabilities":)"
                                        R"({"tools":{"listChanged":true}}})");
    processes.answer("tools/list", tools_a);
    loop.run();
    EXPECT_TRUE(last_line().contains(R"("method":"subscriptions/listen")"));
    EXPECT_TRUE(last_line().contains(R"("notifications":{"toolsListChanged":true})"));
    processes.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    pass(Duration(1'000));
    EXPECT_TRUE(last_line().contains("tools/list")) << last_line();
    processes.answer("tools/list", tools_a);
    processes.answer("subscriptions/listen", "{}");
    pass(Duration(5'000));
    EXPECT_TRUE(last_line().contains("subscriptions/listen")) << "the stream is opened again";
    pass(Duration(1'000));
    EXPECT_TRUE(last_line().contains("tools/list")) << "changes may have been missed";
    processes.refuse("subscriptions/listen", -32601, "unknown method");
    pass(Duration(5'000));
    EXPECT_TRUE(last_line().contains("tools/list")) << "a server without it is not asked again";
}

TEST_F(McpStateless, Task_IsAskedForUntilItHasEnded) {
    connect_stateless();
    auto const stop = call();
    processes.answer("tools/call", R"({"resultType":"task","taskId":"t1","status":"working"})");
    EXPECT_EQ(results.back(), "waits for task t1");
    auto const polled = poll("t1");
    processes.answer("tasks/get", R"({"resultType":"complete","taskId":"t1","status":"failed"})");
    EXPECT_EQ(results.back(), "failed: the task has ended without an outcome");
}

TEST_F(McpStateless, Questions_AreAskedOneByOneAndTheCallIsRepeated) {
    connect_stateless();
    auto const stop = call();
    processes.answer("tools/call", needs(question("k1", "One?") + "," + question("k2", "Two?"),
                                         R"(,"requestState":"opaque")"));
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: One?");
    decide(true, R"({"n":"x"})");
    auto const wrong = call();
    EXPECT_TRUE(results.back().contains("does not fit")) << results.back();
    decide(true, R"({"n":1})");
    auto const second = call();
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: Two?");
    processes.die();  // nothing waits at the server
    loop.run();
    pass(Duration(1'000));
    connect_stateless();
    decide(false, "{}");
    auto const third = call();
    EXPECT_TRUE(
        last_line().contains(R"("inputResponses":{"k1":{"action":"accept","content":{"n":1}},)"
                             R"("k2":{"action":"decline"}},"requestState":"opaque")"))
        << last_line();
    EXPECT_TRUE(last_line().contains(R"("name":"a","arguments":{"x":1})"));
    processes.answer("tools/call", R"({"content":[{"type":"text","text":"hi"}]})");
    EXPECT_EQ(results.back(), R"("hi")");
}

TEST_F(McpStateless, Input_ThatCannotBeGiven_FailsTheCall) {
    connect_stateless();
    for (auto const& [answer, says] : std::vector<std::pair<std::string, std::string>>{
             {needs(R"("k":{"method":"sampling/createMessage","params":{}})"),
              "it asks for sampling/createMessage, which is not offered"},
             {needs(""), "requests input, but names none"},
             {needs(R"("k":{"method":"elicitation/create","params":{}})"),
              "its question is invalid: message must not be empty"},
             {R"({"resultType":"input_required"})", "requests input, but names none"},
         }) {
        auto const stop = call();
        processes.answer("tools/call", answer);
        EXPECT_TRUE(results.back().starts_with("failed: ") && results.back().contains(says))
            << results.back();
    }
}

TEST_F(McpStateless, Questions_WithoutEnd_AreBounded) {
    connect_stateless();
    auto stop = call();
    decide(true, "{}");
    for (unsigned i = 0; i < Calls::questions_max; ++i) {
        processes.answer("tools/call", needs(question("k", "Again?")));
        EXPECT_TRUE(results.back().starts_with("asks: ")) << i << results.back();
        stop = call();
    }
    processes.answer("tools/call", needs(question("k", "Again?")));
    EXPECT_TRUE(results.back().contains("at most 10 questions")) << results.back();
}

TEST_F(McpStateless, ServerOfNeither_IsNamedByTheFirstRefusal) {
    connection.start();
    processes.refuse("initialize", -32601, "unknown method");
    processes.answer("server/discover", R"({"supportedVersions":["2030-01-01"]})");
    loop.run();
    EXPECT_EQ(warnings,
              std::vector<std::string>{"MCP server 's': initialize failed: unknown method"});
}

TEST_F(McpStateless, InitializeAnsweredWithThisVersion_IsDiscovered) {
    connection.start();
    processes.answer("initialize", R"({"protocolVersion":"2026-07-28"})");
    processes.answer("server/discover", discovered);
    processes.answer("tools/list", tools_a);
    EXPECT_EQ(connection.phase(), Phase::ready);
}

class McpStatelessSampling : public McpStateless {
protected:
    McpStatelessSampling() : McpStateless({.name = "s", .argv = {"server"}, .sampling = true}) {}
    static std::string sampling() {
        return R"("m":{"method":"sampling/createMessage","params":{"messages":[{"role":"user",)"
               R"("content":{"type":"text","text":"Hi?"}}],"maxTokens":9}})";
    }
};

TEST_F(McpStatelessSampling, Request_IsApprovedAndTheModelAnswers) {
    connect_stateless();
    EXPECT_TRUE(last_line().contains(R"(clientCapabilities":{"sampling":{})")) << last_line();
    auto const first = call();
    processes.answer("tools/call", needs(sampling() + "," + question("k", "One?"),
                                         R"(,"requestState":"opaque")"));
    EXPECT_TRUE(results.back().contains("[user] Hi?")) << results.back();
    auto const approved = go_on(true);
    ASSERT_EQ(questions.size(), 1U);
    model_done(agent::Reply{.text = "Hello.", .calls = {}, .usage = {}});
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: One?");
    auto const answered = go_on(true, R"({"n":1})");
    EXPECT_TRUE(last_line().contains(R"("inputResponses":{"m":{"role":"assistant","content":)"
                                     R"({"type":"text","text":"Hello."})"))
        << last_line();
    EXPECT_TRUE(last_line().contains(R"("k":{"action":"accept","content":{"n":1}}})"));
    EXPECT_TRUE(last_line().contains(R"("requestState":"opaque")"));
    processes.answer("tools/call", R"({"content":[{"type":"text","text":"hi"}]})");
    EXPECT_EQ(results.back(), R"("hi")");
}

TEST_F(McpStatelessSampling, DenialAndFailureOfTheModel_FailTheCall) {
    connect_stateless();
    auto first = call();
    processes.answer("tools/call", needs(sampling()));
    first = go_on(false);
    EXPECT_EQ(results.back(), "failed: MCP server 's': a person has declined the request");
    state = {};
    first = call();
    processes.answer("tools/call", needs(sampling()));
    first = go_on(true);
    model_done(agent::ModelTrouble{.error = {"overloaded", "busy"}});
    EXPECT_EQ(results.back(), "failed: MCP server 's': the model has failed: busy");
    state = {};
    first = call();
    processes.answer("tools/call", needs(sampling()));
    first = go_on(true);
    std::exchange(first, {})();
    EXPECT_EQ(models_stopped, 1) << "the call was cancelled";
}

TEST_F(McpStatelessSampling, ModelThatTakesTooLong_FailsTheCall) {
    connect_stateless();
    auto const first = call();
    processes.answer("tools/call", needs(sampling()));
    auto const second = go_on(true);
    pass(Duration(600'000));
    EXPECT_TRUE(results.back().starts_with("failed: ")) << results.back();
    EXPECT_EQ(models_stopped, 1);
}

class McpStatelessHttp : public McpStateless {
protected:
    McpStatelessHttp() : McpStateless({.name = "s", .url = "http://127.0.0.1:1/mcp"}) {}
    void reply(std::uint16_t status, std::string const& body) {
        auto callbacks = std::move(http.all.back().callbacks);
        callbacks.head({status, {{"Content-Type", "application/json"}, {"Mcp-Session-Id", "x"}}});
        callbacks.data(body);
        callbacks.done(std::nullopt);
        loop.run();
    }
    [[nodiscard]] std::string header(std::string_view name) {
        for (auto const& each : http.all.back().request.headers)
            if (each.name == name) return each.value;
        return "";
    }
};

TEST_F(McpStatelessHttp, Requests_HaveTheHeadersOfTheirBodies) {
    connection.start();
    reply(400, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"no version"}})");
    EXPECT_EQ(header("MCP-Protocol-Version"), "2026-07-28");
    EXPECT_EQ(header("Mcp-Method"), "server/discover");
    EXPECT_EQ(header("Mcp-Session-Id"), "");
    reply(200, R"({"jsonrpc":"2.0","id":2,"result":)" + std::string(discovered) + "}");
    reply(200, R"({"jsonrpc":"2.0","id":3,"result":)" + std::string(tools_a) + "}");
    EXPECT_EQ(connection.phase(), Phase::ready);
    EXPECT_EQ(http.all.back().request.method, "POST") << "no stream of its own is opened";
    auto const stop = call("\xC3\xA9");
    EXPECT_EQ(header("Mcp-Method"), "tools/call");
    EXPECT_EQ(header("Mcp-Name"), "=?base64?w6k=?=");
    EXPECT_EQ(header("Mcp-Session-Id"), "");
    reply(404, R"({"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"unknown tool"}})");
    EXPECT_EQ(results.back(), "failed: MCP server 's': unknown tool");
    auto const polled = poll("t1");
    EXPECT_EQ(header("Mcp-Name"), "t1");
    reply(404, R"({"jsonrpc":"2.0","id":77,"error":{"code":-32602,"message":"of another"}})");
    EXPECT_EQ(results.back(), "not yet: MCP server 's': it answered with status 404");
}

}  // namespace
}  // namespace dormouse::mcp_client
