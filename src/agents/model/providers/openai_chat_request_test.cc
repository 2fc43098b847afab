#include "model/providers/openai_chat.h"

#include "json/json.h"
#include "model/test_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace dormouse::model {
namespace {

using namespace session;

Json body(std::vector<ViewMessage> messages, RequestSettings settings = {.model = "m"},
          std::vector<agent::ToolDeclaration> tools = {}, std::string instructions = "") {
    return request_body(OpenAiChat(settings), std::move(messages), std::move(tools),
                        std::move(instructions));
}
std::string messages(std::vector<ViewMessage> view) {
    return std::string(json::View(body(std::move(view)))["messages"].raw());
}

TEST(OpenAiChatRequest, Request_HasModelPromptAndTools) {
    RequestSettings const settings{.model = "gpt", .max_output_tokens = 100};
    EXPECT_EQ(body({user("hi")}, settings,
                   {{"deploy", "Deploys.", Json::trusted(R"({"type":"object"})")}}, "Be brief.")
                  .text(),
              R"({"model":"gpt","messages":[{"role":"system","content":"Be brief."},)"
              R"({"role":"user","content":"hi"}],"tools":[{"type":"function","function":)"
              R"({"name":"deploy","description":"Deploys.","parameters":{"type":"object"}}}],)"
              R"("stream":true,"stream_options":{"include_usage":true},"max_tokens":100})");
}

TEST(OpenAiChatRequest, Extra_ReplacesOurMembers) {
    Json const extra = Json::trusted(R"({"temperature":0.5,"stream_options":null,"model":"x"})");
    auto const sent = body({user("hi")}, {.model = "gpt", .extra = extra});
    EXPECT_EQ(sent.text(), R"({"messages":[{"role":"user","content":"hi"}],"stream":true,)"
                           R"("temperature":0.5,"stream_options":null,"model":"x"})");
    agent::Question const none{};
    auto const limit = json::check(OpenAiChat({.model = "m", .max_output_tokens = 7}, true)
                                       .body(none, ToolNames(none.tools())))
                           .value();
    EXPECT_EQ(json::View(limit)["max_completion_tokens"].integer(), 7);
}

TEST(OpenAiChatRequest, Calls_AreAnsweredInOrderAfterTheirMessage) {
    EXPECT_EQ(messages({user("go"),
                        assistant("On it.", {call(1, "a", R"({"n":1})"), call(2, "b", "\"text\""),
                                             failed(3, "c", ErrorReason::denied, "no")}),
                        user("and?"), assistant("", {call(4, "d", "null")})}),
              R"([{"role":"user","content":"go"},{"role":"assistant","content":"On it.",)"
              R"("tool_calls":[{"id":"a","type":"function","function":{"name":"deploy",)"
              R"("arguments":"{\"target\":\"A\"}"}},{"id":"b","type":"function","function":)"
              R"({"name":"deploy","arguments":"{\"target\":\"A\"}"}},{"id":"c","type":)"
              R"("function","function":{"name":"deploy","arguments":"{\"target\":\"A\"}"}}]},)"
              R"({"role":"tool","tool_call_id":"a","content":"{\"n\":1}"},)"
              R"({"role":"tool","tool_call_id":"b","content":"text"},)"
              R"({"role":"tool","tool_call_id":"c","content":"Error (denied): no"},)"
              R"({"role":"user","content":"and?"},{"role":"assistant","content":null,)"
              R"("tool_calls":[{"id":"d","type":"function","function":{"name":"deploy",)"
              R"("arguments":"{\"target\":\"A\"}"}}]},)"
              R"({"role":"tool","tool_call_id":"d","content":"null"}])");
}

TEST(OpenAiChatRequest, CallIds_AreUniqueAndStayTheSameAsTheViewGrows) {
    std::vector<ViewMessage> view{
        user("go"), assistant("", {call(1, "same"), call(2, "same"), call(3, "")}),
        assistant("", {call(4, "same"), call(5, std::string(200, 'x')), call(6, "call_4")}),
        assistant("", {call(0, "same"), call(0, "")})};  // of the session that was forked
    std::vector<std::string> ids;
    Json const all = body(view);
    json::View(all)["messages"].elements([&](json::View message) {
        message["tool_calls"].elements(
            [&](json::View one) { ids.push_back(one["id"].string_or("")); });
    });
    EXPECT_EQ(ids.size(), 8U);
    EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 8U);
    for (std::string const& id : ids) EXPECT_LE(id.size(), 40U);
    EXPECT_EQ(ids[0], "same");
    std::string const longer = messages(view);
    view.resize(2);
    std::string shorter = messages(view);
    shorter.pop_back();
    EXPECT_TRUE(longer.starts_with(shorter));
}

TEST(OpenAiChatRequest, LateOutcome_NamesItsCall) {
    auto const sent = messages({user("go"), assistant("", {call(1, "x"), call(2, "x")}),
                                late(call(2, "x", R"({"live":true})"))});
    EXPECT_TRUE(sent.ends_with(
        R"({"role":"user","content":"The tool call call_2 (deploy {\"target\":\"A\"}) that was )"
        R"(pending has settled. Its outcome:\n{\"live\":true}"}])"))
        << sent;
    EXPECT_THAT(messages({late(failed(1, "x", ErrorReason::expired, "timed out"))}),
                testing::HasSubstr(R"(Its outcome:\nError (expired): timed out)"));
}

TEST(OpenAiChatRequest, OtherParts_BecomeWhatTheApiKnows) {
    Json const parts = Json::trusted(
        R"([{"type":"text","text":"look"},{"type":"image","mime":"image/png","name":"a",)"
        R"("url":"data:image/png;base64,AA=="},{"type":"data","name":"d","data":{"n":1}},)"
        R"({"type":"file","name":"f.pdf","mime":"application/pdf"}])");
    EXPECT_EQ(messages({{ViewMessage::Role::user, InputSource::prompt, parts, {}}}),
              R"([{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url",)"
              R"("image_url":{"url":"data:image/png;base64,AA=="}},)"
              R"({"type":"text","text":"d: {\"n\":1}"},)"
              R"({"type":"text","text":"[file f.pdf application/pdf]"}]}])");
    Json const thought =
        Json::trusted(R"([{"type":"reasoning","text":"hm"},{"type":"text","text":"a"},)"
                      R"({"type":"text","text":"b"}])");
    EXPECT_EQ(
        messages({{ViewMessage::Role::assistant, InputSource::prompt, thought, {}}, assistant("")}),
        R"([{"role":"assistant","content":"a\nb"}])");
}

TEST(OpenAiChatRequest, Arguments_NoObject_AreWrappedInOne) {
    ViewCall odd = call(1, "a");
    odd.input = Json::trusted(R"("{\"targ")");
    EXPECT_THAT(messages({assistant("", {odd})}),
                testing::HasSubstr(R"("arguments":"{\"arguments\":\"{\\\"targ\"}")"));
}

TEST(OpenAiChatRequest, ToolNames_InvalidForProvider_AreReplaced) {
    Json const schema = Json::trusted("{}");
    std::string const longest(70, 'x');
    ToolNames const names({{"mcp:files/read", "", schema},
                           {"mcp_files_read", "", schema},
                           {"mcp:files:read", "", schema},
                           {longest, "", schema}});
    EXPECT_EQ(names.to_provider("mcp_files_read"), "mcp_files_read");
    EXPECT_EQ(names.to_provider("mcp:files/read"), "mcp_files_read_2");
    EXPECT_EQ(names.to_provider("mcp:files:read"), "mcp_files_read_3");
    EXPECT_EQ(names.to_provider(longest).size(), 64U);
    for (std::string const name : {"mcp:files/read", "mcp_files_read", "mcp:files:read"})
        EXPECT_EQ(names.from_provider(names.to_provider(name)), name);
    EXPECT_EQ(names.from_provider("unheard_of"), "unheard_of");
    EXPECT_EQ(names.to_provider("was:there"), "was_there");
}

}  // namespace
}  // namespace dormouse::model
