#include "mcp_client/requests/holder.h"
#include "mcp_client/testing/connection_fixture.h"

// Tasks of a server that need input: people answer, and the task continues.
namespace dormouse::mcp_client {
namespace {

using testing::ConnectionTest;
using testing::tools_a;

constexpr auto form =
    R"("requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}})";

std::string elicits(std::string const& message, std::string const& more = "") {
    return R"({"message":")" + message + R"(",)" + form + more + "}";
}
std::string request(std::string const& key, std::string const& message) {
    return "\"" + key + R"(":{"method":"elicitation/create","params":)" + elicits(message) + "}";
}
std::string samples(std::string const& more = "") {
    return R"({"messages":[{"role":"user","content":{"type":"text","text":"Hi?"}}],"maxTokens":9)" +
           more + "}";
}
constexpr auto related = R"(,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}})";

class McpTaskInput : public ConnectionTest {
protected:
    explicit McpTaskInput(bool sampling = true)
        : ConnectionTest({.name = "s", .argv = {"server"}, .sampling = sampling}) {}
    void connect_extension() {
        connect_as(R"({"protocolVersion":"2025-11-25","capabilities":)"
                   R"({"extensions":{"io.modelcontextprotocol/tasks":{}}}})",
                   tools_a);
    }
    void connect_tasks() {
        connect_as(R"({"protocolVersion":"2025-11-25",)"
                   R"("capabilities":{"tasks":{"requests":{"tools":{"call":{}}}}}})",
                   tools_a);
    }
    static std::string state_of(std::string const& status, std::string const& more = "") {
        return R"({"taskId":"t1","status":")" + status + R"(","pollInterval":1000)" + more + "}";
    }
    static std::string needs(std::string const& requests) {
        return state_of("input_required", R"(,"inputRequests":{)" + requests + "}");
    }
    void ask(std::string const& method, std::string const& params) {
        processes.say(R"({"jsonrpc":"2.0","id":"q","method":")" + method + R"(","params":)" +
                      params + "}");
    }
    void restart() {
        processes.die();
        loop.run();
        pass(Duration(1'000));
    }
};

TEST_F(McpTaskInput, Requests_AreAskedOneByOneAndUpdateTheTask) {
    connect_extension();
    auto const first = poll("t1");
    processes.answer("tasks/get", needs(request("a", "One?") + "," + request("b", "Two?")));
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: One?");
    auto const wrong = go_on(true, R"({"n":"x"})");
    EXPECT_TRUE(results.back().contains("does not fit")) << results.back();
    restart();  // the pause has everything
    connect_extension();
    auto const one = go_on(true, R"({"n":1})");
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: Two?");
    auto const two = go_on(false);
    EXPECT_EQ(results.back(), "waits for task t1");
    auto const second = poll("t1");
    processes.answer("tasks/get", needs(request("a", "One?") + "," + request("b", "Two?")));
    EXPECT_TRUE(last_line().contains(
        R"("tasks/update","params":{"taskId":"t1","inputResponses":{"a":{"action":"accept",)"
        R"("content":{"n":1}},"b":{"action":"decline"}}})"))
        << last_line();
    pass(Duration(1'000));
    processes.answer("tasks/get", needs(request("c", "Three?")));
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: Three?") << "keys are not used again";
}

// The pauses that ask for input, and those that wait for the task again.
TEST_F(McpTaskInput, Pauses_NameTheProcessThatHasTheConnection) {
    holder = 12;
    connect_extension();
    auto const first = poll("t1");
    processes.answer("tasks/get", needs(request("a", "One?")));
    EXPECT_EQ(holder_in(state), 12U);
    auto const wrong = go_on(true, R"({"n":"x"})");
    EXPECT_EQ(holder_in(state), 12U);
    auto const one = go_on(true, R"({"n":1})");
    EXPECT_EQ(results.back(), "waits for task t1");
    EXPECT_EQ(holder_in(state), 12U);
    auto const second = poll("t1");
    processes.answer("tasks/get", needs(request("a", "One?")));
    EXPECT_TRUE(last_line().contains("tasks/update")) << last_line();
}

TEST_F(McpTaskInput, Sampling_IsAnsweredByTheModel) {
    connect_extension();
    auto const first = poll("t1");
    std::string const input_request =
        R"("k":{"method":"sampling/createMessage","params":)" + samples() + "}";
    processes.answer("tasks/get", needs(input_request));
    EXPECT_TRUE(results.back().contains("[user] Hi?")) << results.back();
    auto const answered = go_on(true);
    ASSERT_EQ(questions.size(), 1U);
    model_done(agent::Reply{.text = "Hello.", .calls = {}, .usage = {}});
    EXPECT_EQ(results.back(), "waits for task t1");
    auto const second = poll("t1");
    processes.answer("tasks/get", needs(input_request));
    EXPECT_TRUE(last_line().contains(R"("inputResponses":{"k":{"role":"assistant")"))
        << last_line();
}

TEST_F(McpTaskInput, DeniedSampling_EndsTheTask) {
    connect_extension();
    auto const first = poll("t1");
    processes.answer("tasks/get", needs(R"("k":{"method":"sampling/createMessage","params":)" +
                                        samples() + "}"));
    auto const answered = go_on(false);
    EXPECT_EQ(results.back(), "failed: MCP server 's': a person has declined the request");
    EXPECT_TRUE(last_line().contains(R"("tasks/cancel","params":{"taskId":"t1"})")) << last_line();
}

TEST_F(McpTaskInput, Requests_ThatCannotBeAnswered_EndTheTask) {
    connect_extension();
    auto const first = poll("t1");
    processes.answer("tasks/get", needs(R"("k":{"method":"roots/list","params":{}})"));
    EXPECT_EQ(results.back(),
              "failed: MCP server 's': it asks for roots/list, which is not offered");
    EXPECT_TRUE(last_line().contains("tasks/cancel")) << last_line();
}

TEST_F(McpTaskInput, Requests_WithoutEnd_AreBounded) {
    connect_extension();
    for (unsigned i = 0; i < Tasks::questions_max; ++i) {
        auto const polled = poll("t1");
        processes.answer("tasks/get", needs(request("k" + std::to_string(i), "Again?")));
        ASSERT_TRUE(results.back().starts_with("asks: ")) << i << results.back();
        auto const answered = go_on(true, "{}");
        ASSERT_EQ(results.back(), "waits for task t1");
    }
    auto const polled = poll("t1");
    processes.answer("tasks/get", needs(request("last", "Again?")));
    EXPECT_TRUE(results.back().contains("at most 10 questions")) << results.back();
    EXPECT_TRUE(last_line().contains("tasks/cancel")) << last_line();
}

TEST_F(McpTaskInput, RequestOfTheServer_IsAnsweredAsAResponse) {
    connect_tasks();
    auto const first = poll("t1");
    processes.answer("tasks/get", state_of("input_required"));
    EXPECT_TRUE(last_line().contains("tasks/result")) << "the server may ask inside it";
    ask("elicitation/create", elicits("Who?", related));
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: Who?");
    EXPECT_FALSE(last_line().contains("cancelled")) << last_line();
    auto const answered = go_on(true, R"({"n":1})");
    EXPECT_EQ(results.back(), "waits for task t1");
    auto const second = poll("t1");
    auto const& lines = processes.newest().lines;
    EXPECT_TRUE(lines.at(lines.size() - 2)
                    .contains(R"("id":"q","result":{"action":"accept","content":{"n":1}})"))
        << lines.at(lines.size() - 2);
    EXPECT_TRUE(last_line().contains("tasks/get"));
    ask("elicitation/create", elicits("Who?", related));
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: Who?") << "an answer is given once";
}

TEST_F(McpTaskInput, RequestBetweenTwoPolls_IsAskedByTheNext) {
    connect_tasks();
    auto stop = poll("t1");
    stop();
    ask("elicitation/create", elicits("Who?", related));
    ask("elicitation/create", elicits("Another?", related));
    EXPECT_TRUE(last_line().contains("asks another question already")) << last_line();
    auto const second = poll("t1");
    EXPECT_EQ(results.back(), "asks: The MCP server 's' asks: Who?");
    close();
    auto const& lines = processes.newest().lines;
    EXPECT_TRUE(lines.at(lines.size() - 2).contains(R"("result":{"action":"cancel"})"))
        << lines.at(lines.size() - 2);
    EXPECT_TRUE(last_line().contains("tasks/cancel")) << last_line();
    ask("elicitation/create", elicits("Who?", related));
    EXPECT_TRUE(last_line().contains("no call waits for this task")) << last_line();
}

TEST_F(McpTaskInput, AnswerAfterARestart_IsGivenToTheSameQuestion) {
    connect_tasks();
    auto const first = poll("t1");
    ask("elicitation/create", elicits("Who?", related));
    restart();
    connect_tasks();
    auto const answered = go_on(true, R"({"n":1})");
    auto const second = poll("t1");
    ask("elicitation/create", elicits("Who?", related));
    EXPECT_TRUE(last_line().contains(R"("id":"q","result":{"action":"accept")")) << last_line();
    EXPECT_EQ(results.back(), "waits for task t1");
}

TEST_F(McpTaskInput, DeniedSamplingOfARequest_IsRefused) {
    connect_tasks();
    auto const first = poll("t1");
    ask("sampling/createMessage", samples(related));
    auto const answered = go_on(false);
    EXPECT_EQ(results.back(), "waits for task t1");
    auto const second = poll("t1");
    auto const& lines = processes.newest().lines;
    EXPECT_TRUE(lines.at(lines.size() - 2).contains(R"("id":"q","error":{"code":-1,)"))
        << lines.at(lines.size() - 2);
}

class McpTaskInputWithoutSampling : public McpTaskInput {
protected:
    McpTaskInputWithoutSampling() : McpTaskInput(false) {}
};

TEST_F(McpTaskInputWithoutSampling, Sampling_IsNotOffered) {
    connect_extension();
    auto const first = poll("t1");
    processes.answer("tasks/get", needs(R"("k":{"method":"sampling/createMessage","params":)" +
                                        samples() + "}"));
    EXPECT_TRUE(results.back().contains("sampling/createMessage, which is not offered"))
        << results.back();
}

}  // namespace
}  // namespace dormouse::mcp_client
