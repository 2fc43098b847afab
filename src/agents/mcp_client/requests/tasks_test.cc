#include "mcp_client/requests/holder.h"
#include "mcp_client/testing/connection_fixture.h"

namespace dormouse::mcp_client {
namespace {

using testing::ConnectionTest;
using testing::tools_a;

constexpr auto task_tools = R"({"tools":[{"name":"a","inputSchema":{"type":"object"},)"
                            R"("execution":{"taskSupport":"required"}}]})";

class McpTasks : public ConnectionTest {
protected:
    void connect_tasks() {
        connect_as(R"({"protocolVersion":"2025-11-25",)"
                   R"("capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}})",
                   task_tools);
    }
    void connect_extension() {
        connect_as(R"({"protocolVersion":"2025-11-25","capabilities":)"
                   R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})",
                   tools_a);
    }
    static std::string state(std::string const& status, std::string const& more = "") {
        return R"({"taskId":"t1","status":")" + status + R"(","pollInterval":2000)" + more + "}";
    }
};

TEST_F(McpTasks, Call_OfATool_BecomesATaskAndItsResultIsFetched) {
    connect_tasks();
    auto const stop = call();
    EXPECT_TRUE(last_line().contains(R"("task":{"ttl":86400000})")) << last_line();
    processes.answer("tools/call", R"({"task":)" + state("working") + "}");
    EXPECT_EQ(results, std::vector<std::string>{"waits for task t1"});
    auto const polled = poll("t1");
    EXPECT_TRUE(last_line().contains(R"("method":"tasks/get","params":{"taskId":"t1"})"));
    processes.answer("tasks/get", state("working", R"(,"statusMessage":"half done")"));
    EXPECT_EQ(reports, std::vector<std::string>{R"(7 {"message":"half done"})"});
    auto const before = processes.newest().lines.size();
    pass(Duration(1'999));
    EXPECT_EQ(processes.newest().lines.size(), before);
    pass(Duration(1));
    processes.answer("tasks/get", state("completed"));
    EXPECT_TRUE(last_line().contains("tasks/result"));
    processes.answer("tasks/result", R"({"content":[{"type":"text","text":"hi"}]})");
    EXPECT_EQ(results.back(), R"("hi")");
    close();
    EXPECT_TRUE(last_line().contains("tasks/result")) << "an ended task is not cancelled";
}

TEST_F(McpTasks, PollThatMustNotStartAnyMore_IsNotSentWhenItIsReady) {
    connection.start();
    auto const stop = poll("t1");
    may_start = false;
    connect_tasks();
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(results[0].starts_with("not yet: MCP server 's': it has waited")) << results[0];
    EXPECT_FALSE(last_line().contains("tasks/get"));
}

TEST_F(McpTasks, Task_OfTheExtension_HasItsOutcomeItself) {
    connect_extension();
    auto const stop = call();
    EXPECT_FALSE(last_line().contains(R"("task":)"));
    processes.answer("tools/call", R"({"resultType":"task",)" + state("working").substr(1));
    EXPECT_EQ(results, std::vector<std::string>{"waits for task t1"});
    auto const polled = poll("t1");
    processes.say(R"({"jsonrpc":"2.0","method":"notifications/tasks","params":)" +
                  state("completed") + "}");
    processes.answer("tasks/get",
                     state("completed", R"(,"result":{"content":[{"type":"text","text":"hi"}]})"));
    EXPECT_EQ(results.back(), R"("hi")");
}

TEST_F(McpTasks, Outcomes_OfOtherKinds_AreClear) {
    struct Row {
        std::string answer, says;
    };
    for (Row const& row : {
             Row{state("cancelled", R"(,"statusMessage":"by the operator")"),
                 "failed: the server has cancelled the task: by the operator"},
             Row{state("failed", R"(,"error":{"code":-32603,"message":"out of disk"})"),
                 "failed: out of disk"},
             Row{R"({"status":"odd"})", "not yet: MCP server 's': its answer has no task"},
         }) {
        if (connection.phase() == Phase::down) connect_tasks();
        auto const polled = poll("t1");
        processes.answer("tasks/get", row.answer);
        EXPECT_EQ(results.back(), row.says);
    }
    auto const polled = poll("t1");
    processes.refuse("tasks/get", -32602, "no such task");
    EXPECT_EQ(results.back(), "failed: MCP server 's': its task is lost: no such task");
    auto const again = poll("t1");
    processes.refuse("tasks/get", -32603, "busy");
    EXPECT_EQ(results.back(), "not yet: MCP server 's': busy");
    auto const hung = poll("t1");
    pass(Tasks::answer_limit);
    EXPECT_EQ(results.back(), "not yet: MCP server 's': it did not answer within 60 s");
}

TEST_F(McpTasks, Failed_WithoutAnError_FetchesIt) {
    connect_tasks();
    auto const polled = poll("t1");
    processes.answer("tasks/get", state("failed"));
    processes.refuse("tasks/result", -32602, "bad disk");
    EXPECT_EQ(results.back(), "failed: MCP server 's': bad disk");
}

TEST_F(McpTasks, Server_ThatRestarts_IsAskedForTheSameTask) {
    connect_tasks();
    auto const polled = poll("t1");
    processes.die();
    loop.run();
    EXPECT_TRUE(results.empty());
    pass(Duration(1'000));
    connect_tasks();
    EXPECT_TRUE(last_line().contains(R"("tasks/get","params":{"taskId":"t1"})"));
    processes.answer("tasks/get",
                     state("completed", R"(,"result":{"content":[{"type":"text","text":"hi"}]})"));
    EXPECT_EQ(results, std::vector<std::string>{R"("hi")"});
}

TEST_F(McpTasks, ClosedCall_CancelsItsTaskAsSoonAsPossible) {
    connect_tasks();
    auto const stop = call();
    processes.answer("tools/call", R"({"task":)" + state("working") + "}");
    close();
    EXPECT_TRUE(last_line().contains(R"("tasks/cancel","params":{"taskId":"t1"})"));
    auto stop_poll = poll("t2");
    stop_poll();
    processes.die();
    loop.run();
    close();
    pass(Duration(1'000));
    connect_tasks();
    EXPECT_TRUE(last_line().contains(R"("tasks/cancel","params":{"taskId":"t2"})"));
}

TEST_F(McpTasks, DeletedSession_CancelsItsTasks) {
    connect_tasks();
    auto const stop = call();
    processes.answer("tools/call", R"({"task":)" + state("working") + "}");
    connection.tasks().deleted(SessionId::make(1, {}));
    EXPECT_FALSE(last_line().contains("tasks/cancel")) << "another one";
    delete_session();
    EXPECT_TRUE(last_line().contains(R"("tasks/cancel","params":{"taskId":"t1"})"));
}

// Other processes have other connections, on which the task is unknown.
TEST_F(McpTasks, Pause_OfATask_NamesTheProcessThatHasTheConnection) {
    holder = 12;
    connect_tasks();
    auto const stop = call();
    processes.answer("tools/call", R"({"task":)" + state("working") + "}");
    EXPECT_EQ(ConnectionTest::state.text(), R"({"holder":12})");
    EXPECT_EQ(holder_in(ConnectionTest::state), 12U);
}

TEST_F(McpTasks, Poll_ThatLasts_GivesWayAndTheProcessCanEnd) {
    connect_tasks();
    auto const polled = poll("t1");
    processes.answer("tasks/get", state("working"));
    auto const other = poll("t2");
    connection.tasks().leave();
    EXPECT_EQ(results, (std::vector<std::string>{"not yet: ", "not yet: "}));
    connection.start();
    auto const third = poll("t1");
    for (int i = 0; i < 301; ++i) {
        processes.answer("tasks/get", state("working"));
        pass(Duration(2'000));
    }
    EXPECT_EQ(results.size(), 3U);
}

TEST_F(McpTasks, Progress_OfACallAndItsTask_IsReportedOnceASecond) {
    connect_tasks();
    auto const stop = call();
    auto const progress = [&](std::string const& more) {
        processes.say(
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1",)" +
            more + "}}");
    };
    progress(R"("progress":1,"total":3,"message":"one","other":[])");
    progress(R"("progress":2)");
    progress(R"("progress":3)");
    EXPECT_EQ(reports, std::vector<std::string>{R"(7 {"progress":1,"total":3,"message":"one"})"});
    pass(Duration(1'000));
    EXPECT_EQ(reports.back(), R"(7 {"progress":3})") << "the newest";
    pass(Duration(1'000));
    processes.answer("tools/call", R"({"task":)" + state("working") + "}");
    progress(R"("progress":4)");
    EXPECT_EQ(reports.size(), 3U);
    progress(R"("message":")" + std::string(1'500, 'x') + "\"");
    pass(Duration(1'000));
    EXPECT_LT(reports.back().size(), 1'100U);
    close();
    progress(R"("progress":5)");
    pass(Duration(1'000));
    EXPECT_EQ(reports.size(), 4U) << "it has ended";
}

TEST_F(McpTasks, Progress_WithoutEnd_IsBounded) {
    connect();
    auto const stop = call();
    for (std::uint32_t i = 0; i < Progress::reports_max + 10; ++i) {
        processes.say(R"({"jsonrpc":"2.0","method":"notifications/progress",)"
                      R"("params":{"progressToken":"1","progress":)" +
                      std::to_string(i) + "}}");
        clock.time += Duration(1'000);
        loop.pass(Duration(1'000));
    }
    EXPECT_LE(reports.size(), Progress::reports_max);
}

}  // namespace
}  // namespace dormouse::mcp_client
