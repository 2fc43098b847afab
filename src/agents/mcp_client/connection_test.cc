#include "mcp_client/connection.h"

#include "mcp_client/servers.h"
#include "mcp_client/testing/connection_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dormouse::mcp_client {
namespace {

using acp::testing::FakeLoop;
using acp::testing::FakePort;
using acp::testing::FakeProcesses;
using testing::ConnectionTest;
using testing::FakeClock;
using testing::tools_a;

TEST_F(ConnectionTest, Server_ThatAnswers_IsReadyWithItsTools) {
    connect();
    EXPECT_EQ(connection.phase(), Phase::ready);
    EXPECT_EQ(processes.methods(), "initialize notifications/initialized tools/list");
    EXPECT_EQ(lists, std::vector<std::size_t>{1});
    EXPECT_EQ(settled, 1);
    auto const stop = call();
    EXPECT_TRUE(
        processes.newest().lines.back().contains(R"("params":{"name":"a","arguments":{"x":1},)"));
    processes.answer("tools/call", R"({"content":[{"type":"text","text":"hi"}]})");
    EXPECT_EQ(results, std::vector<std::string>{R"("hi")"});
    processes.answer("tools/call", R"({"content":[]})");
    EXPECT_EQ(results.size(), 1U) << "a second answer with the same id is skipped";
    EXPECT_TRUE(warnings.empty());
}

TEST_F(ConnectionTest, Call_BeforeItIsReady_WaitsForIt) {
    connection.start();
    auto const stop = call();
    EXPECT_TRUE(results.empty());
    processes.answer("initialize", R"({"protocolVersion":"2025-11-25"})");
    processes.answer("tools/list", tools_a);
    processes.answer("tools/call", R"({"content":[{"type":"text","text":"hi"}]})");
    EXPECT_EQ(results.size(), 1U);
    pass(Duration(60'000));
    EXPECT_EQ(results.size(), 1U);
}

TEST_F(ConnectionTest, CallThatMustNotStartAnyMore_IsNotSentWhenItIsReady) {
    connection.start();
    auto const stop = call();
    may_start = false;
    processes.answer("initialize", R"({"protocolVersion":"2025-11-25"})");
    processes.answer("tools/list", tools_a);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(results[0].starts_with("failed: MCP server 's': the call was not sent"));
    EXPECT_FALSE(processes.newest().lines.back().contains("tools/call"));
}

TEST_F(ConnectionTest, Server_ThatHangs_IsNamedAndTriedAgain) {
    connection.start();
    auto const stop = call();
    pass(Duration(30'000));
    EXPECT_EQ(settled, 1);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0], "MCP server 's': it has not listed its tools within 30 s");
    EXPECT_EQ(results, std::vector<std::string>{
                           "failed: MCP server 's': it is not connected: it has not listed its "
                           "tools within 30 s"});
    pass(Duration(1'000));
    EXPECT_EQ(processes.all.size(), 2U);
    pass(Duration(30'000));
    pass(Duration(1'999));
    EXPECT_EQ(processes.all.size(), 2U) << "it rests twice as long";
    pass(Duration(1));
    EXPECT_EQ(processes.all.size(), 3U);
    EXPECT_EQ(warnings.size(), 1U) << "the same failure is named once";
}

TEST_F(ConnectionTest, Server_ThatDiesInACall_LeavesItInDoubt) {
    connect();
    auto const stop = call();
    processes.die("line one\nout of memory\n");
    loop.run();
    EXPECT_EQ(results, std::vector<std::string>{
                           "in doubt: MCP server 's': its program was ended by signal 9: out of "
                           "memory"});
    EXPECT_EQ(connection.phase(), Phase::resting);
    pass(Duration(1'000));
    EXPECT_EQ(connection.phase(), Phase::initializing);
}

TEST_F(ConnectionTest, LongMessage_EndsTheConnection) {
    connect();
    auto const stop = call();
    processes.say(std::string(2'001, 'x'));
    loop.run();
    EXPECT_EQ(warnings, std::vector<std::string>{
                            "MCP server 's': it sent a message of more than 2000 bytes"});
    EXPECT_TRUE(results.at(0).starts_with("in doubt"));
}

TEST_F(ConnectionTest, Flood_EndsTheConnection) {
    connect();
    for (int i = 0; i < 1'000; ++i)
        processes.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
    loop.run();
    EXPECT_EQ(connection.phase(), Phase::ready);
    processes.say(R"({"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}})");
    loop.run();
    EXPECT_EQ(connection.phase(), Phase::resting);
    EXPECT_EQ(warnings, std::vector<std::string>{
                            "MCP server 's': it sends more than 1000 messages in a second"});
}

TEST_F(ConnectionTest, OtherLines_AreNamedOnceAndEndItAtLast) {
    connect();
    processes.say("Server started on port 3");
    processes.say("{");
    EXPECT_EQ(warnings, std::vector<std::string>{
                            "MCP server 's': it sent a line that is not JSON-RPC: Server started "
                            "on port 3"});
    for (int i = 0; i < 100; ++i) processes.say("{}");
    loop.run();
    EXPECT_EQ(connection.phase(), Phase::resting);
}

TEST_F(ConnectionTest, RequestsOfTheServer_AreAnswered) {
    connect();
    processes.say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
    EXPECT_EQ(processes.newest().lines.back(), R"({"jsonrpc":"2.0","id":"p","result":{}})");
    processes.say(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
    EXPECT_TRUE(processes.newest().lines.back().contains("-32601"));
}

TEST_F(ConnectionTest, Call_OverItsTimeOrStopped_IsCancelled) {
    connect();
    auto const kept = call();
    pass(Duration(600'000));
    EXPECT_EQ(results, std::vector<std::string>{
                           "in doubt: MCP server 's': the call took longer than 600 s"});
    EXPECT_TRUE(processes.newest().lines.back().contains("notifications/cancelled"));
    auto stop = call();
    auto const before = processes.newest().lines.size();
    stop();
    EXPECT_EQ(processes.newest().lines.size(), before + 1);
    processes.answer("tools/call", R"({"content":[]})");
    EXPECT_EQ(results.size(), 1U);
}

TEST_F(ConnectionTest, ChangedList_IsReadAgainOnceASecond) {
    connect();
    for (int i = 0; i < 5; ++i)
        processes.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    pass(Duration(1'000));
    processes.answer("tools/list", R"({"tools":[],"nextCursor":"2"})");
    processes.answer("tools/list", tools_a);
    EXPECT_EQ(lists.size(), 2U);
    processes.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    pass(Duration(1'000));
    processes.answer("tools/list", R"({"tools":[]})");
    EXPECT_EQ(lists, (std::vector<std::size_t>{1, 1, 0}));
}

TEST_F(ConnectionTest, EndlessListOrUnknownVersion_Fails) {
    connection.start();
    processes.answer("initialize", R"({"protocolVersion":"1"})");
    loop.run();
    EXPECT_TRUE(warnings.at(0).contains("unknown protocol version '1'"));
    pass(Duration(1'000));
    processes.answer("initialize", R"({"protocolVersion":"2025-06-18"})");
    for (std::size_t i = 0; i < pages_max; ++i)
        processes.answer("tools/list", R"({"tools":[],"nextCursor":"x"})");
    loop.run();
    EXPECT_TRUE(warnings.at(1).contains("more than 50 pages")) << warnings.at(1);
}

TEST_F(ConnectionTest, ListThatIsNotReadAgain_EndsTheConnection) {
    connect();
    processes.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    pass(Duration(1'000));
    pass(Duration(30'000));
    EXPECT_EQ(warnings, std::vector<std::string>{
                            "MCP server 's': tools/list failed: it did not answer within 30 s"});
    EXPECT_EQ(connection.phase(), Phase::resting);
}

class SlowStart : public ConnectionTest {
protected:
    SlowStart()
        : ConnectionTest({.name = "s", .argv = {"server"}, .start_limit = Duration(300'000)}) {}
};

TEST_F(SlowStart, Server_WithALongStartLimit_HasThatTime) {
    connection.start();
    pass(Duration(299'000));
    EXPECT_TRUE(warnings.empty());
    processes.answer("initialize", R"({"protocolVersion":"2025-06-18"})");
    processes.answer("tools/list", tools_a);
    EXPECT_EQ(connection.phase(), Phase::ready);
}

class HttpConnection : public ConnectionTest {
protected:
    HttpConnection()
        : ConnectionTest({.name = "s",
                          .url = "http://127.0.0.1:1/mcp",
                          .headers = {{"Authorization", "Bearer x"}},
                          .message_max = 2'000}) {}
    // Answers the newest request.
    void reply(std::uint16_t status, std::string const& type, std::string const& body,
               std::vector<port::HttpHeader> headers = {}) {
        auto callbacks = std::move(http.all.back().callbacks);
        headers.push_back({"Content-Type", type});
        callbacks.head({status, std::move(headers)});
        callbacks.data(body);
        callbacks.done(std::nullopt);
        loop.run();
    }
    void connect_http() {
        connection.start();
        reply(200, "application/json",
              "{\"jsonrpc\":\"2.0\",\"id\":1,\n\"result\":{\"protocolVersion\":\"2025-06-18\"}}",
              {{"Mcp-Session-Id", "sid"}});
        reply(200, "text/event-stream",
              R"(data: {"jsonrpc":"2.0","id":2,"result":)" + std::string(tools_a) + "}\n\n");
    }
    static std::string header(port::HttpRequest const& request, std::string_view name) {
        for (auto const& each : request.headers)
            if (each.name == name) return each.value;
        return "";
    }
};

TEST_F(HttpConnection, JsonAndStreams_AreRead) {
    connect_http();
    EXPECT_EQ(connection.phase(), Phase::ready);
    auto const stop = call();
    auto const& request = http.all.back().request;
    EXPECT_EQ(header(request, "Mcp-Session-Id"), "sid");
    EXPECT_EQ(header(request, "MCP-Protocol-Version"), "2025-06-18");
    EXPECT_EQ(header(request, "Authorization"), "Bearer x");
    EXPECT_EQ(request.redirects_max, 0U);
    reply(200, "text/event-stream",
          "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"
          "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}\n\n");
    EXPECT_EQ(results, std::vector<std::string>{"[]"});
    EXPECT_TRUE(warnings.empty());
}

TEST_F(HttpConnection, Message_ThatIsNoRequest_HasALimit) {
    connect_http();
    auto stop = call();
    EXPECT_EQ(http.all.back().request.total_limit, Duration(0)) << "a person may be asked";
    stop();
    EXPECT_TRUE(http.all.back().request.body.contains("notifications/cancelled"));
    EXPECT_EQ(http.all.back().request.total_limit, Duration(60'000));
}

TEST_F(HttpConnection, Answers_OfOtherKinds_AreNamed) {
    struct Row {
        std::uint16_t status;
        std::string type, body, says;
    };
    for (Row const& row : {
             Row{302, "text/html", "", "failed: MCP server 's': it answered with a redirect (302)"},
             Row{401, "text/html", "", "failed: MCP server 's': it refused the request (401)"},
             Row{500, "text/html", "", "failed: MCP server 's': it answered with status 500"},
             Row{200, "text/html", "<html>",
                 "failed: MCP server 's': it answered with 'text/html'"},
             Row{200, "application/json", std::string(2'001, ' '),
                 "in doubt: MCP server 's': its answer must be at most 2000 bytes"},
             Row{200, "application/json", "{",
                 "in doubt: MCP server 's': its answer ended without"},
             Row{200, "text/event-stream", "data: {}\n\n",
                 "in doubt: MCP server 's': its answer ended without a result"},
         }) {
        if (connection.phase() == Phase::down) connect_http();
        auto const stop = call();
        reply(row.status, row.type, row.body);
        EXPECT_TRUE(results.back().starts_with(row.says)) << results.back();
    }
}

TEST_F(HttpConnection, ChangedList_ComesOnItsOwnStream) {
    connect_http();
    auto& stream = *std::ranges::find(http.all, std::string("GET"),
                                      [](auto const& exchange) { return exchange.request.method; });
    stream.callbacks.head({200, {{"Content-Type", "text/event-stream"}}});
    stream.callbacks.data(
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    pass(Duration(1'000));
    EXPECT_TRUE(http.all.back().request.body.contains("tools/list"));
    stream.callbacks.done(std::nullopt);
    auto const before = http.all.size();
    pass(Duration(5'000));
    ASSERT_EQ(http.all.size(), before + 1) << "it is opened again";
    EXPECT_EQ(http.all.back().request.method, "GET");
    http.all.back().callbacks.head({405, {}});
    http.all.back().callbacks.done(std::nullopt);
    pass(Duration(20'000));
    EXPECT_EQ(http.all.size(), before + 1) << "there is none";
}

TEST_F(HttpConnection, EndedSession_IsBegunAgain) {
    connect_http();
    auto const stop = call();
    reply(404, "application/json", "{}");
    EXPECT_TRUE(results.at(0).contains("its session has ended"));
    EXPECT_EQ(connection.phase(), Phase::resting);
    pass(Duration(1'000));
    EXPECT_EQ(header(http.all.back().request, "Mcp-Session-Id"), "");
}

TEST_F(HttpConnection, Failure_BeforeItWasSent_IsNoDoubt) {
    connect_http();
    auto const one = call();
    http.all.back().callbacks.done(port::HttpFailure{.reason = "no route", .sent = false});
    auto const two = call();
    http.all.back().callbacks.done(port::HttpFailure{.reason = "lost", .sent = true});
    EXPECT_EQ(results, (std::vector<std::string>{"failed: MCP server 's': no route",
                                                 "in doubt: MCP server 's': lost"}));
}

TEST(McpServers, Tools_OfAServer_AreThoseOfItsAgents) {
    FakeLoop loop;
    FakeProcesses processes;
    FakePort http;
    FakeClock clock;
    agent::Registry registry;
    Servers servers(
        {{.name = "s", .argv = {"server"}}}, {processes, http, loop, clock},
        [](std::string const&) {}, [](PendingId const&, Json const&) {});
    servers.add_to(registry);
    agent::Agent ops;
    ops.id = "ops";
    ops.foreign = {"mcp:s:*"};
    registry.add(std::move(ops));
    bool settled = false;
    servers.start([&] { settled = true; });
    EXPECT_TRUE(registry.agent("ops")->tools.empty());
    ASSERT_TRUE(registry.tool("mcp:s:early")) << "a call of an earlier process can be made";
    EXPECT_FALSE(registry.tool("mcp:other:a"));
    processes.answer("initialize", R"({"protocolVersion":"2025-06-18"})");
    processes.answer("tools/list", tools_a);
    EXPECT_TRUE(settled);
    EXPECT_EQ(registry.agent("ops")->tools, std::vector<std::string>{"mcp:s:a"});
    auto const spec = registry.prepare(
        *registry.agent("ops"), {.id = "1", .tool = "mcp:s:a", .input = Json::trusted("{}")});
    EXPECT_FALSE(spec.refused);
    EXPECT_EQ(spec.terms.gates, std::vector<std::string>{"mcp"});
}

}  // namespace
}  // namespace dormouse::mcp_client
