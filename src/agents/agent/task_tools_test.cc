#include "agent/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>

// Names, parameters, defaults and limits as in docs/reference/tools.md, "Background tasks".
namespace dormouse::agent {
namespace {

using namespace session;

class TaskToolsTest : public ::testing::Test {
protected:
    TaskToolsTest() {
        for (Tool& tool : task_tools()) {
            helper.tools.push_back(tool.name);
            registry.add(std::move(tool));
        }
    }
    // Returns why a call is refused; empty: it is not.
    [[nodiscard]] std::string refused(std::string const& tool, std::string const& input) const {
        return registry.prepare(helper, {"", tool, Json::trusted(input)}).refused.value_or("");
    }
    [[nodiscard]] ToolResult result(std::string const& tool, std::string const& input) const {
        EXPECT_EQ(refused(tool, input), "");
        ToolResult out = Failed{"nothing came"};
        ToolCall call;
        call.input = Json::trusted(input);
        (void)registry.tool(tool)->start(std::move(call),
                                         [&](ToolResult r) { out = std::move(r); });
        return out;
    }
    [[nodiscard]] TaskAsk ask(std::string const& tool, std::string const& input) const {
        ToolResult const out = result(tool, input);
        auto const* ask = std::get_if<TaskAsk>(&out);
        EXPECT_TRUE(ask) << tool << ' ' << input;
        return ask ? *ask : TaskAsk();
    }

    Registry registry;
    Agent helper{"helper", "", nullptr, {}};
};

TEST_F(TaskToolsTest, TaskTools_HaveTheDocumentedNames) {
    EXPECT_EQ(helper.tools,
              (std::vector<std::string>{"background_task", "background_output", "background_resume",
                                        "background_cancel", "background_clear", "background_list",
                                        "report_progress"}));
}

TEST_F(TaskToolsTest, Task_HasDescriptionPromptAndAgent) {
    TaskAsk const made =
        ask("background_task", R"({"description":"d","prompt":"p \"q\"","agent":"demo"})");
    EXPECT_EQ(made.what, TaskAsk::What::start);
    EXPECT_EQ(made.agent, "demo");
    EXPECT_EQ(made.description, "d");
    EXPECT_EQ(made.parts.text(), R"([{"type":"text","text":"p \"q\""}])");
    EXPECT_NE(refused("background_task", R"({"description":"d","prompt":"p"})"), "");
    EXPECT_NE(refused("background_task", R"({"description":"d","prompt":"","agent":"demo"})"), "");
}

TEST_F(TaskToolsTest, Resume_HasTheDocumentedDefaultsAndLimit) {
    TaskAsk const plain = ask("background_resume", R"({"task_id":"t","message":"m"})");
    EXPECT_EQ(plain.what, TaskAsk::What::resume);
    EXPECT_FALSE(plain.block);
    TaskAsk const blocks =
        ask("background_resume", R"({"task_id":"t","message":"m","block":true})");
    EXPECT_TRUE(blocks.block);
    EXPECT_EQ(blocks.timeout, Duration(60'000));
    TaskAsk const longest =
        ask("background_resume", R"({"task_id":"t","message":"m","block":true,"timeout":600000})");
    EXPECT_EQ(longest.timeout, Duration(600'000));
    EXPECT_NE(refused("background_resume", R"({"task_id":"t","message":"m","timeout":600001})"),
              "");
    EXPECT_NE(refused("background_resume", R"({"task_id":"t","message":"m","timeout":-1})"), "");
    EXPECT_NE(refused("background_resume", R"({"task_id":"t"})"), "");
    EXPECT_NE(refused("background_resume", R"({"message":"m"})"), "");
}

TEST_F(TaskToolsTest, Output_HasTheSameDefaults) {
    EXPECT_FALSE(ask("background_output", R"({"task_id":"t"})").block);
    EXPECT_EQ(ask("background_output", R"({"task_id":"t","block":true})").timeout,
              Duration(60'000));
    EXPECT_NE(refused("background_output", R"({"task_id":"t","block":"yes"})"), "");
}

TEST_F(TaskToolsTest, Cancel_TakesOneOrAll) {
    EXPECT_EQ(ask("background_cancel", R"({"task_id":"t"})").task, "t");
    EXPECT_EQ(ask("background_cancel", R"({"all":true})").task, "");
    for (char const* const input : {"{}", R"({"all":false})", R"({"task_id":"t","all":true})"})
        EXPECT_TRUE(std::holds_alternative<Failed>(result("background_cancel", input))) << input;
}

TEST_F(TaskToolsTest, List_TakesAStatus) {
    EXPECT_FALSE(ask("background_list", "{}").only);
    EXPECT_EQ(ask("background_list", R"({"status":"resumed"})").only, TaskStatus::resumed);
    EXPECT_NE(refused("background_list", R"({"status":"lost"})"), "");
}

TEST_F(TaskToolsTest, AgentTool_TakesAPrompt) {
    registry.add(agent_tool({"agent:demo", "demo", "Plays.", Duration(5'000)}));
    helper.tools.push_back("agent:demo");
    TaskAsk const call = ask("agent:demo", R"({"prompt":"look"})");
    EXPECT_EQ(call.what, TaskAsk::What::call);
    EXPECT_EQ(call.agent, "demo");
    EXPECT_EQ(call.timeout, Duration(5'000));
    EXPECT_NE(refused("agent:demo", "{}"), "");
}

}  // namespace
}  // namespace dormouse::agent
