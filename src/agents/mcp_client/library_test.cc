#include "mcp_client/library.h"

#include "mcp_client/testing/connection_fixture.h"

namespace dormouse::mcp_client {
namespace {

using testing::ConnectionTest;
using testing::tools_a;

class McpLibrary : public ConnectionTest {};

constexpr auto has_both =
    R"({"protocolVersion":"2025-06-18","capabilities":{"resources":{},"prompts":{}}})";

TEST_F(McpLibrary, Methods_OfTheServer_AreToolsThatOnlyRead) {
    connect_as(has_both, tools_a);
    EXPECT_EQ(lists, std::vector<std::size_t>{6});
    auto const tools = library_tools(connection.abilities());
    for (ForeignTool const& tool : tools) {
        EXPECT_EQ(crash_policy_of(tool.hints), session::CrashPolicy::retry);
        EXPECT_FALSE(asks_for(Asks::destructive, tool.hints));
        EXPECT_TRUE(json::check(tool.schema.text())) << tool.name;
    }
    EXPECT_TRUE(library_tools({.prompts = true}).size() == 2U);
    EXPECT_TRUE(library_tools({}).empty());
}

TEST_F(McpLibrary, Call_IsTheMethodWithItsInput) {
    connect_as(has_both, tools_a);
    auto const stop = call("resources/read");
    EXPECT_TRUE(last_line().contains(R"("method":"resources/read","params":{"x":1,)"));
    processes.answer("resources/read",
                     R"({"contents":[{"uri":"a:b","text":"hi"}],"_meta":{},"ttlMs":3})");
    EXPECT_EQ(results.back(), R"({"contents":[{"uri":"a:b","text":"hi"}]})");
    auto const again = call("prompts/get");
    processes.answer("prompts/get", R"({"contents":[]})");
    EXPECT_EQ(results.back(), "failed: the MCP server's result has no messages");
    auto const third = call("resources/list");
    processes.refuse("resources/list", -32002, "no such resource");
    EXPECT_EQ(results.back(), "failed: MCP server 's': no such resource");
}

TEST_F(McpLibrary, ToolOfTheSameName_IsLeftOut) {
    connect_as(has_both, R"({"tools":[{"name":"prompts/get","inputSchema":{"type":"object"}}]})");
    EXPECT_EQ(lists, std::vector<std::size_t>{5});
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_TRUE(warnings[0].contains("is that of a method of the protocol"));
}

}  // namespace
}  // namespace dormouse::mcp_client
