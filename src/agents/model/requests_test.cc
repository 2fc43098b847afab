// The request of each protocol for the same conversation (chat completions:
// openai_chat_request_test.cc).

#include "json/json.h"
#include "model/providers/anthropic.h"
#include "model/providers/gemini.h"
#include "model/providers/ollama.h"
#include "model/providers/openai_chat.h"
#include "model/providers/openai_responses.h"
#include "model/test_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::model {
namespace {

using testing::HasSubstr;
using testing::Not;

RequestSettings const plain{.model = "m"};

std::vector<agent::ToolDeclaration> const tools{
    {"mcp:deploy", "Deploys.", Json::trusted(R"({"properties":{}})")}};

// Two calls, one of which failed, and a late outcome; then an empty message.
std::vector<ViewMessage> conversation() {
    return {user("go"),
            assistant("On it.", {call(1, "a", R"({"n":1})"),
                                 failed(2, "odd id!", ErrorReason::denied, "no")}),
            late(call(2, "odd id!", "\"live\"")), user(" ")};
}

// An assistant message with `parts` as in the journal.
ViewMessage replied(std::string parts, std::vector<ViewCall> calls = {}) {
    return {ViewMessage::Role::assistant, InputSource::prompt, Json::trusted(std::move(parts)),
            std::move(calls)};
}
ViewMessage const picture{
    ViewMessage::Role::user,
    InputSource::prompt,
    Json::trusted(R"([{"type":"text","text":"look"},{"type":"image","url":"data:image/png;base64,)"
                  R"(AA=="},{"type":"image","url":"https://x/y.png"}])"),
    {}};

TEST(AnthropicRequest, Request_HasModelPromptAndTools) {
    EXPECT_EQ(
        request_body(Anthropic({.model = "claude", .max_output_tokens = 100}), {user("hi")}, tools,
                     "Go.")
            .text(),
        R"({"model":"claude","max_tokens":100,"system":"Go.","messages":[{"role":"user","content":)"
        R"([{"type":"text","text":"hi"}]}],"tools":[{"name":"mcp_deploy","description":"Deploys.",)"
        R"("input_schema":{"type":"object","properties":{}}}],"stream":true})");
    EXPECT_EQ(json::View(request_body(Anthropic(plain), {user("hi")}))["max_tokens"].integer(),
              8'192);
}

TEST(AnthropicRequest, Messages_Alternate_ResultsComeFirst) {
    EXPECT_EQ(member(request_body(Anthropic(plain), conversation()), "messages"),
              R"([{"role":"user","content":[{"type":"text","text":"go"}]},)"
              R"({"role":"assistant","content":[{"type":"text","text":"On it."},)"
              R"({"type":"tool_use","id":"a","name":"deploy","input":{"target":"A"}},)"
              R"({"type":"tool_use","id":"call_2","name":"deploy","input":{"target":"A"}}]},)"
              R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a",)"
              R"("content":"{\"n\":1}"},)"
              R"({"type":"tool_result","tool_use_id":"call_2","content":"Error (denied): no",)"
              R"("is_error":true},{"type":"text","text":"The tool call call_2 (deploy )"
              R"({\"target\":\"A\"}) that was pending has settled. Its outcome:\nlive"},)"
              R"({"type":"text","text":"[An empty message.]"}]}])");
}

TEST(AnthropicRequest, Assistant_EmptyOrFirst_IsAdapted) {
    EXPECT_EQ(member(request_body(Anthropic(plain),
                                  {user("a"), assistant(""), assistant("  "), user("b")}),
                     "messages"),
              R"([{"role":"user","content":[{"type":"text","text":"a"},)"
              R"({"type":"text","text":"b"}]}])");
    EXPECT_THAT(member(request_body(Anthropic(plain), {assistant("so"), user("b")}), "messages"),
                testing::StartsWith(R"([{"role":"user","content":[{"type":"text","text":"[The )"));
}

TEST(AnthropicRequest, Thinking_IsReturnedToItsModelInPlace) {
    std::string const parts =
        R"([{"type":"reasoning","text":"","providerData":{"from":"anthropic/m","redacted":"xx"}},)"
        R"({"type":"reasoning","text":"hm","providerData":{"from":"anthropic/m","signature":"s"}},)"
        R"({"type":"reasoning","text":"open"},{"type":"text","text":"yes"},)"
        R"({"type":"reasoning","text":"","providerData":{"from":"anthropic/m","after":1,)"
        R"("signature":"t"}},)"
        R"({"type":"reasoning","text":"last","providerData":{"from":"anthropic/m","after":2,)"
        R"("signature":"u"}}])";
    std::vector<ViewMessage> const view{user("go"), replied(parts, {call(1, "a"), call(2, "b")})};
    EXPECT_THAT(
        member(request_body(Anthropic(plain), view), "messages"),
        HasSubstr(
            R"("content":[{"type":"redacted_thinking","data":"xx"},)"
            R"({"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"yes"},)"
            R"({"type":"tool_use","id":"a","name":"deploy","input":{"target":"A"}},)"
            R"({"type":"thinking","thinking":"","signature":"t"},)"
            R"({"type":"tool_use","id":"b","name":"deploy","input":{"target":"A"}}]})"));
    for (std::string const& other :
         {std::string(request_body(Anthropic({.model = "n"}), view).text()),
          std::string(request_body(Gemini(plain), view).text()),
          std::string(request_body(OpenAiResponses(plain), view).text()),
          std::string(request_body(Ollama(plain), view).text())}) {
        EXPECT_THAT(other, Not(HasSubstr("hm")));
        EXPECT_THAT(other, Not(HasSubstr("redacted")));
        EXPECT_THAT(other, HasSubstr("yes"));
    }
    // Reasoning alone is not a message.
    auto const alone = request_body(Anthropic(plain), {user("go"), replied(parts), user("?")});
    EXPECT_THAT(alone.text(), HasSubstr(R"({"type":"text","text":"yes"}]},{"role":"user")"));
    auto const only = request_body(Anthropic(plain),
                                   {user("go"),
                                    replied(R"([{"type":"reasoning","text":"hm","providerData":)"
                                            R"({"from":"anthropic/m","signature":"s"}}])"),
                                    user("?")});
    EXPECT_THAT(only.text(), Not(HasSubstr("assistant")));
}

TEST(AnthropicRequest, Images_AreSent) {
    EXPECT_EQ(
        member(request_body(Anthropic(plain), {picture}), "messages"),
        R"([{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":)"
        R"({"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"image",)"
        R"("source":{"type":"url","url":"https://x/y.png"}}]}])");
}

TEST(ResponsesRequest, Request_HasPromptAndStoresNothing) {
    EXPECT_EQ(request_body(OpenAiResponses({.model = "gpt-5", .max_output_tokens = 100}),
                           {user("hi")}, tools, "Go.")
                  .text(),
              R"({"model":"gpt-5","instructions":"Go.","input":[{"role":"user","content":"hi"}],)"
              R"("tools":[{"type":"function","name":"mcp_deploy","description":"Deploys.",)"
              R"("parameters":{"type":"object","properties":{}},"strict":false}],"stream":true,)"
              R"("store":false,"include":["reasoning.encrypted_content"],)"
              R"("max_output_tokens":100})");
    EXPECT_THAT(request_body(OpenAiResponses({.model = "gpt-4o"}), {user("hi")}).text(),
                Not(HasSubstr("include")));
}

TEST(ResponsesRequest, Calls_AreAnsweredInOrder) {
    EXPECT_EQ(member(request_body(OpenAiResponses(plain), conversation()), "input"),
              R"([{"role":"user","content":"go"},{"type":"message","role":"assistant","content":)"
              R"([{"type":"output_text","text":"On it."}]},)"
              R"({"type":"function_call","call_id":"a","name":"deploy",)"
              R"("arguments":"{\"target\":\"A\"}"},{"type":"function_call","call_id":"call_2",)"
              R"("name":"deploy","arguments":"{\"target\":\"A\"}"},)"
              R"({"type":"function_call_output","call_id":"a","output":"{\"n\":1}"},)"
              R"({"type":"function_call_output","call_id":"call_2","output":"Error (denied): no"},)"
              R"({"role":"user","content":"The tool call call_2 (deploy {\"target\":\"A\"}) that )"
              R"(was pending has settled. Its outcome:\nlive"},{"role":"user","content":" "}])");
}

TEST(ResponsesRequest, Reasoning_IsReturnedWholeAndWithItsSuccessor) {
    std::string const parts =
        R"([{"type":"reasoning","text":"hm","providerData":{"from":"openai-responses/m",)"
        R"("item":{"type":"reasoning","id":"rs_1","encrypted_content":"e"}}},)"
        R"({"type":"text","text":"yes","providerData":{"from":"openai-responses/m",)"
        R"("phase":"commentary"}},{"type":"reasoning","text":"","providerData":)"
        R"({"from":"openai-responses/m","after":1,"item":{"type":"reasoning","id":"rs_2"}}}])";
    EXPECT_EQ(
        member(request_body(OpenAiResponses(plain), {user("go"), replied(parts, {call(1, "a")})}),
               "input"),
        R"([{"role":"user","content":"go"},{"type":"reasoning","id":"rs_1",)"
        R"("encrypted_content":"e"},{"type":"message","role":"assistant",)"
        R"("phase":"commentary","content":[{"type":"output_text","text":"yes"}]},)"
        R"({"type":"function_call","call_id":"a","name":"deploy",)"
        R"("arguments":"{\"target\":\"A\"}"},)"
        R"({"type":"function_call_output","call_id":"a","output":"ok"}])");
}

TEST(ResponsesRequest, Images_AreSent) {
    EXPECT_EQ(member(request_body(OpenAiResponses(plain), {picture}), "input"),
              R"([{"role":"user","content":[{"type":"input_text","text":"look"},)"
              R"({"type":"input_image","image_url":"data:image/png;base64,AA=="},)"
              R"({"type":"input_image","image_url":"https://x/y.png"}]}])");
}

TEST(GeminiRequest, Request_HasPromptAndTools) {
    Gemini const gemini({.model = "g", .max_output_tokens = 100});
    EXPECT_EQ(gemini.path(), "/models/g:streamGenerateContent?alt=sse");
    EXPECT_EQ(request_body(gemini, {user("hi")}, tools, "Go.").text(),
              R"({"systemInstruction":{"parts":[{"text":"Go."}]},"contents":[{"role":"user",)"
              R"("parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"mcp_deploy",)"
              R"("description":"Deploys.","parametersJsonSchema":{"type":"object",)"
              R"("properties":{}}}]}],"generationConfig":{"maxOutputTokens":100}})");
    Json const extra =
        Json::trusted(R"({"generationConfig":{"temperature":0},"safetySettings":[]})");
    EXPECT_EQ(
        request_body(Gemini({.model = "g", .max_output_tokens = 7, .extra = extra}), {user("hi")})
            .text(),
        R"({"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":)"
        R"({"maxOutputTokens":7,"temperature":0},"safetySettings":[]})");
}

TEST(GeminiRequest, Messages_Alternate_CallsAreAnsweredInOrder) {
    std::vector<ViewMessage> view = conversation();
    view[1].calls.push_back(call(3, "", "7"));
    EXPECT_EQ(
        member(request_body(Gemini(plain), view), "contents"),
        R"([{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"On it."},)"
        R"({"functionCall":{"id":"a","name":"deploy","args":{"target":"A"}}},)"
        R"({"functionCall":{"id":"call_2","name":"deploy","args":{"target":"A"}}},)"
        R"({"functionCall":{"name":"deploy","args":{"target":"A"}}}]},{"role":"user","parts":[)"
        R"({"functionResponse":{"id":"a","name":"deploy","response":{"output":{"n":1}}}},)"
        R"({"functionResponse":{"id":"call_2","name":"deploy","response":)"
        R"({"error":"Error (denied): no"}}},)"
        R"({"functionResponse":{"name":"deploy","response":{"output":7}}},)"
        R"({"text":"The tool call call_2 (deploy {\"target\":\"A\"}) that was pending has )"
        R"(settled. Its outcome:\nlive"},{"text":"[An empty message.]"}]}])");
}

TEST(GeminiRequest, Signatures_AreReturnedOnTheirParts) {
    std::string const parts =
        R"([{"type":"reasoning","text":"unsigned"},)"
        R"({"type":"reasoning","text":"hm","providerData":{"from":"gemini/m","signature":"s"}},)"
        R"({"type":"text","text":"yes","providerData":{"from":"gemini/m","signature":"t"}},)"
        R"({"type":"reasoning","text":"","providerData":{"from":"gemini/m","call":2,)"
        R"("signature":"u"}},{"type":"reasoning","text":"","providerData":{"from":"gemini/m",)"
        R"("after":2,"signature":"v","text":true}}])";
    EXPECT_THAT(member(request_body(Gemini(plain),
                                    {user("go"), replied(parts, {call(1, ""), call(2, "")})}),
                       "contents"),
                HasSubstr(R"({"role":"model","parts":[{"text":"hm","thought":true,)"
                          R"("thoughtSignature":"s"},{"text":"yes","thoughtSignature":"t"},)"
                          R"({"functionCall":{"name":"deploy","args":{"target":"A"}}},)"
                          R"({"functionCall":{"name":"deploy","args":{"target":"A"}},)"
                          R"("thoughtSignature":"u"},{"text":"","thoughtSignature":"v"}]})"));
}

TEST(GeminiRequest, Images_AreSent) {
    EXPECT_EQ(member(request_body(Gemini(plain), {picture}), "contents"),
              R"([{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png",)"
              R"("data":"AA=="}},{"fileData":{"fileUri":"https://x/y.png"}}]}])");
}

TEST(OllamaRequest, Request_HasModelPromptAndTools) {
    Json const extra = Json::trusted(R"({"think":true,"options":{"num_ctx":8}})");
    EXPECT_EQ(request_body(Ollama({.model = "q", .max_output_tokens = 100, .extra = extra}),
                           {user("hi")}, tools, "Go.")
                  .text(),
              R"({"model":"q","messages":[{"role":"system","content":"Go."},)"
              R"({"role":"user","content":"hi"}],"tools":[{"type":"function","function":)"
              R"({"name":"mcp_deploy","description":"Deploys.","parameters":{"properties":{}}}}],)"
              R"("stream":true,"options":{"num_predict":100,"num_ctx":8},"think":true})");
}

TEST(OllamaRequest, Calls_AreAnsweredInOrder_ThinkingIsReturned) {
    std::vector<ViewMessage> view = conversation();
    view[1].parts =
        Json::trusted(R"([{"type":"reasoning","text":"hm","providerData":{"from":"ollama/m"}}])");
    EXPECT_EQ(member(request_body(Ollama(plain), view), "messages"),
              R"([{"role":"user","content":"go"},{"role":"assistant","content":"",)"
              R"("thinking":"hm","tool_calls":[{"id":"a","function":{"name":"deploy",)"
              R"("arguments":{"target":"A"}}},{"id":"call_2","function":{"name":"deploy",)"
              R"("arguments":{"target":"A"}}}]},)"
              R"({"role":"tool","tool_name":"deploy","tool_call_id":"a","content":"{\"n\":1}"},)"
              R"({"role":"tool","tool_name":"deploy","tool_call_id":"call_2",)"
              R"("content":"Error (denied): no"},{"role":"user","content":"The tool call call_2 )"
              R"((deploy {\"target\":\"A\"}) that was pending has settled. Its outcome:\nlive"},)"
              R"({"role":"user","content":" "}])");
}

TEST(OllamaRequest, Images_AreSent) {
    EXPECT_EQ(member(request_body(Ollama(plain), {picture}), "messages"),
              R"([{"role":"user","content":"look\nhttps://x/y.png","images":["AA=="]}])");
}

// A prompt with an image, a text, a PDF and a file that no model reads.
agent::Question with_files() {
    agent::Question out;
    Json const parts = Json::trusted(
        R"([{"type":"text","text":"look"},)"
        R"({"type":"image","mime":"image/gif","name":"a.gif","bytes":6,"artifactID":"art_1"},)"
        R"({"type":"file","mime":"text/csv","name":"b.csv","bytes":3,"artifactID":"art_2"},)"
        R"({"type":"file","mime":"application/pdf","name":"c.pdf","bytes":4,"artifactID":"art_3"},)"
        R"({"type":"file","mime":"application/zip","name":"d.zip","alt":"all","bytes":4,)"
        R"("artifactID":"art_4"},)"
        R"({"type":"image","mime":"image/gif","name":"old.gif","bytes":6,"artifactID":"art_5"}])");
    out.view.messages = {{ViewMessage::Role::user, InputSource::prompt, parts, {}}};
    auto const bytes = [](std::string text) {
        return std::make_shared<std::string const>(std::move(text));
    };
    out.view.files = {{"art_1", bytes("GIF89a")},
                      {"art_2", bytes("1,2")},
                      {"art_3", bytes("%PDF")},
                      {"art_4", bytes("PK00")}};
    return out;
}
std::string body_with_files(Protocol const& protocol, std::string_view name) {
    auto const question = with_files();
    auto const body = json::check(protocol.body(question, ToolNames(question.tools())));
    return body ? member(*body, name) : body.error().detail;
}

constexpr std::string_view gif = "R0lGODlh";
constexpr std::string_view pdf = "JVBERg==";

TEST(FilesInRequests, Files_AreSentInEachProtocolsForm) {
    RequestSettings const settings{.model = "m"};
    EXPECT_EQ(body_with_files(OpenAiChat(settings), "messages"),
              R"([{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url",)"
              R"("image_url":{"url":"data:image/gif;base64,R0lGODlh"}},)"
              R"({"type":"text","text":"[file b.csv text/csv]\n1,2"},)"
              R"({"type":"file","file":{"filename":"c.pdf",)"
              R"("file_data":"data:application/pdf;base64,JVBERg=="}},)"
              R"({"type":"text","text":"[file d.zip application/zip: all]"},)"
              R"({"type":"text","text":"[image old.gif image/gif]"}]}])");
    EXPECT_EQ(
        body_with_files(OpenAiResponses(settings), "input"),
        R"([{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image",)"
        R"("image_url":"data:image/gif;base64,R0lGODlh"},)"
        R"({"type":"input_text","text":"[file b.csv text/csv]\n1,2"},)"
        R"({"type":"input_file","filename":"c.pdf",)"
        R"("file_data":"data:application/pdf;base64,JVBERg=="},)"
        R"({"type":"input_text","text":"[file d.zip application/zip: all]"},)"
        R"({"type":"input_text","text":"[image old.gif image/gif]"}]}])");
    EXPECT_EQ(
        body_with_files(Anthropic(settings), "messages"),
        R"([{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":)"
        R"({"type":"base64","media_type":"image/gif","data":"R0lGODlh"}},)"
        R"({"type":"text","text":"[file b.csv text/csv]\n1,2"},{"type":"document","source":)"
        R"({"type":"base64","media_type":"application/pdf","data":"JVBERg=="},"title":"c.pdf"},)"
        R"({"type":"text","text":"[file d.zip application/zip: all]"},)"
        R"({"type":"text","text":"[image old.gif image/gif]"}]}])");
    EXPECT_EQ(
        body_with_files(Gemini(settings), "contents"),
        R"([{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/gif",)"
        R"("data":"R0lGODlh"}},{"text":"[file b.csv text/csv]\n1,2"},)"
        R"({"inlineData":{"mimeType":"application/pdf","data":"JVBERg=="}},)"
        R"({"text":"[file d.zip application/zip: all]"},{"text":"[image old.gif image/gif]"}]}])");
    EXPECT_EQ(body_with_files(Ollama(settings), "messages"),
              R"([{"role":"user","content":"look\n[file b.csv text/csv]\n1,2\n)"
              R"([file c.pdf application/pdf]\n[file d.zip application/zip: all]\n)"
              R"([image old.gif image/gif]","images":["R0lGODlh"]}])");
}

TEST(FilesInRequests, Files_NotAccepted_AreSentAsNames) {
    RequestSettings const settings{.model = "m", .images = false, .files = false};
    for (auto const& [protocol, name] :
         std::initializer_list<std::pair<std::shared_ptr<Protocol const>, std::string_view>>{
             {std::make_shared<OpenAiChat>(settings), "messages"},
             {std::make_shared<OpenAiResponses>(settings), "input"},
             {std::make_shared<Anthropic>(settings), "messages"},
             {std::make_shared<Gemini>(settings), "contents"},
             {std::make_shared<Ollama>(settings), "messages"}}) {
        std::string const sent = body_with_files(*protocol, name);
        EXPECT_THAT(sent, Not(HasSubstr(std::string(gif))));
        EXPECT_THAT(sent, Not(HasSubstr(std::string(pdf))));
        EXPECT_THAT(sent, HasSubstr("[image a.gif image/gif]"));
        EXPECT_THAT(sent, HasSubstr("[file c.pdf application/pdf]"));
        EXPECT_THAT(sent, HasSubstr("1,2"));
    }
}

// Bytes that are not text are not sent as text.
TEST(FilesInRequests, TextFile_InvalidUtf8_IsSentAsName) {
    agent::Question question = with_files();
    question.view.files["art_2"] = std::make_shared<std::string const>("\xff\xfe");
    std::string const sent = Ollama({.model = "m"}).body(question, ToolNames(question.tools()));
    EXPECT_THAT(sent, HasSubstr("[file b.csv text/csv]\\n[file c.pdf"));
}

}  // namespace
}  // namespace dormouse::model
