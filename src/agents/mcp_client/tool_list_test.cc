#include "mcp_client/tool_list.h"

#include "json/json.h"
#include "mcp_client/requests/call_result.h"

#include <gtest/gtest.h>

namespace dormouse::mcp_client {
namespace {

ServerSettings const files{.name = "files", .argv = {"server"}};

ToolPage page_of(std::string const& tools) {
    std::string const text = R"({"tools":[)" + tools + "]}";
    auto page = read_tools(files, json::View(std::string_view(text)));
    EXPECT_TRUE(page);
    return page ? *page : ToolPage{};
}

Hints hints_of(std::string const& annotations) {
    auto const page = page_of(R"({"name":"a","inputSchema":{"type":"object"},"annotations":)" +
                              annotations + "}");
    return page.tools.at(0).hints;
}

TEST(McpTools, Annotations_DecideCrashPolicyAndGate) {
    auto const nothing = hints_of("{}");
    EXPECT_EQ(crash_policy_of(nothing), session::CrashPolicy::never);
    EXPECT_TRUE(asks_for(Asks::destructive, nothing)) << "as the protocol says";
    auto const reads = hints_of(R"({"readOnlyHint":true,"destructiveHint":true})");
    EXPECT_EQ(crash_policy_of(reads), session::CrashPolicy::retry);
    EXPECT_FALSE(asks_for(Asks::destructive, reads));
    EXPECT_TRUE(asks_for(Asks::all, reads));
    auto const adds = hints_of(R"({"destructiveHint":false,"idempotentHint":true})");
    EXPECT_EQ(crash_policy_of(adds), session::CrashPolicy::retry);
    EXPECT_FALSE(asks_for(Asks::destructive, adds));
    EXPECT_FALSE(asks_for(Asks::none, nothing));
}

TEST(McpTools, Tool_ThatCannotBeOffered_IsLeftOut) {
    auto const page =
        page_of(R"({"name":"good","inputSchema":{"type":"object"}},)"
                R"({"name":"odd name","inputSchema":{"type":"object"}},)"
                R"({"name":"none"},{"name":"text","inputSchema":"x"},)"
                R"({"name":")" +
                std::string(140, 'a') + R"(","inputSchema":{"type":"object"}},)" +
                R"({"name":"large","inputSchema":{"description":")" + std::string(70'000, 'a') +
                R"("}},)" + R"({"name":"bad","inputSchema":{"type":"strin"}})");
    ASSERT_EQ(page.tools.size(), 1U);
    EXPECT_EQ(page.tools[0].name, "good");
    EXPECT_EQ(page.left_out.size(), 6U);
}

TEST(McpTools, List_OfOtherKinds_IsRefused) {
    for (auto const* const text : {"{}", R"({"tools":3})", "[]", "null"})
        EXPECT_FALSE(read_tools(files, json::View(std::string_view(text)))) << text;
}

TEST(McpTools, Declaration_HasPrefixTermsAndDefinition) {
    auto const page = page_of(R"({"name":"rm","description":"d","inputSchema":{"type":"object"}})");
    auto const tool = declare(files, page.tools.at(0), false);
    EXPECT_EQ(tool.name, "mcp:files:rm");
    EXPECT_EQ(tool.terms.gates, std::vector<std::string>{"mcp"});
    EXPECT_EQ(tool.definition.text(),
              R"({"mcp":"files","tool":"rm","url":"","command":["server"]})");
}

std::string done_of(std::string const& result) {
    auto const read = read_result(json::View(std::string_view(result)));
    auto const* const done = std::get_if<agent::Done>(&read);
    if (done) return std::string(done->output.text());
    return "failed: " + std::get<session::Failed>(read).message;
}

TEST(McpTools, Result_OfEachForm_IsRead) {
    EXPECT_EQ(done_of(R"({"content":[{"type":"text","text":"hi"}]})"), R"("hi")");
    EXPECT_EQ(done_of(R"({"content":[{"type":"text","text":"{}"}],"structuredContent":{"a":1}})"),
              R"({"a":1})");
    EXPECT_EQ(done_of(R"({"content":[]})"), "[]");
    EXPECT_EQ(done_of(R"({"content":[{"type":"text","text":"no"}],"isError":true})"), "failed: no");
    EXPECT_EQ(done_of(R"({"isError":true})"), "failed: the tool reported an error without a text");
    EXPECT_EQ(done_of("{}"), "failed: the MCP server's result has no content");
    EXPECT_EQ(done_of(R"({"content":[{"type":"image","data":"AA=="}]})"),
              R"([{"type":"image","data":"AA=="}])");
}

}  // namespace
}  // namespace dormouse::mcp_client
