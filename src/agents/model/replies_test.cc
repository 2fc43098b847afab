// Tests parts of replies that only one protocol has (protocols_test.cc tests what all have).

#include "model/providers/anthropic.h"
#include "model/providers/gemini.h"
#include "model/providers/ollama.h"
#include "model/providers/openai_responses.h"
#include "model/test_provider.h"

namespace dormouse::model {
namespace {

RequestSettings const default_settings{.model = "m"};

class AnthropicReply : public ProviderTest {
protected:
    AnthropicReply() : ProviderTest(std::make_unique<Anthropic>(default_settings)) {}

    static std::string block(int index, std::string const& start,
                             std::vector<std::string> const& pieces = {}) {
        std::string const at = R"(,"index":)" + std::to_string(index);
        std::string out =
            event(R"({"type":"content_block_start")" + at + R"(,"content_block":)" + start + "}");
        for (std::string const& piece : pieces) {
            out += event(R"({"type":"content_block_delta")" + at + R"(,"delta":)" + piece + "}");
        }
        return out + event(R"({"type":"content_block_stop")" + at + "}");
    }
    static std::string end(std::string const& reason) {
        return event(R"({"type":"message_delta","delta":{"stop_reason":")" + reason +
                     R"("},"usage":{"output_tokens":50}})") +
               event(R"({"type":"message_stop"})");
    }
    std::string const thinking = block(0, R"({"type":"thinking","thinking":"","signature":""})",
                                       {R"({"type":"thinking_delta","thinking":"hm"})",
                                        R"({"type":"signature_delta","signature":"a+"})",
                                        R"({"type":"signature_delta","signature":"/="})"});
    std::string const hidden = block(1, R"({"type":"redacted_thinking","data":"xx"})");
    std::string const use = block(2, R"({"type":"tool_use","id":"t","name":"deploy","input":{}})");
};

TEST_F(AnthropicReply, Request_HasItsOwnHeaders) {
    ask();
    port::HttpHead const sent{0, http.requests.at(0).headers};
    EXPECT_EQ(http.requests[0].url, "http://localhost/v1/messages");
    EXPECT_EQ(sent.header("x-api-key"), "sk-secret");
    EXPECT_EQ(sent.header("anthropic-version"), "2023-06-01");
    EXPECT_FALSE(sent.header("Authorization"));
}

TEST_F(AnthropicReply, Reply_KeepsSignaturesAndPlaces) {
    std::string const start = event(
        R"({"type":"message_start","message":{"usage":{"input_tokens":4,)"
        R"("cache_read_input_tokens":30,"cache_creation_input_tokens":2,"output_tokens":1}}})");
    answer(start + thinking + hidden + use + block(3, R"({"type":"text","text":"so"})") +
               block(4, R"({"type":"web_search_tool_result","content":[]})") + end("tool_use"),
           {}, 7);
    EXPECT_EQ(reply().parts.text(),
              R"([{"type":"reasoning","text":"hm","providerData":{"from":"anthropic/m",)"
              R"("signature":"a+/="}},{"type":"reasoning","text":"","providerData":)"
              R"({"from":"anthropic/m","redacted":"xx"}},{"type":"text","text":"so",)"
              R"("providerData":{"from":"anthropic/m","after":1}}])");
    EXPECT_EQ(reply().calls.at(0).input.text(), "{}") << "the agent has no tools";
    EXPECT_EQ(reply().usage, (session::Usage{36, 50, 30, 0, 2}));
    EXPECT_EQ(reply().reasoning, "hm");
}

TEST_F(AnthropicReply, UnfinishedBlock_IsNoCall) {
    std::string const half = event(R"({"type":"content_block_start","index":0,"content_block":)"
                                   R"({"type":"tool_use","id":"t","name":"deploy","input":{}}})");
    answer(half + end("tool_use"));
    EXPECT_TRUE(trouble().may_retry);
    answer(half + half + end("tool_use"));
    EXPECT_TRUE(trouble().may_retry);
    answer(end("tool_use"));
    EXPECT_TRUE(trouble().may_retry) << "there is no call";
}

TEST_F(AnthropicReply, StopReason_IsReported) {
    answer(use + end("refusal"));
    EXPECT_EQ(reply().finish, FinishReason::refusal);
    EXPECT_TRUE(reply().calls.empty());
    answer(thinking + end("model_context_window_exceeded"));
    EXPECT_EQ(reply().finish, FinishReason::length);
    answer(use + end("stop_sequence"));
    EXPECT_EQ(reply().calls.size(), 1U);
    answer(use + end("pause_turn"));
    EXPECT_THAT(trouble().error.message, HasSubstr("pause_turn"));
    // Input tokens in the first event, as some servers send them.
    answer(block(0, R"({"type":"tool_use","id":"t","name":"deploy","input":{"a":1}})") +
           end("tool_use"));
    EXPECT_EQ(reply().calls.at(0).input.text(), R"({"a":1})");
}

TEST_F(AnthropicReply, StreamError_TypeDecidesRetry) {
    for (std::string const kind : {"overloaded_error", "api_error", "invalid_request_error"}) {
        answer(thinking +
               event(R"({"type":"error","error":{"type":")" + kind + R"(","message":"no"}})"));
        EXPECT_EQ(trouble().may_retry, kind != "invalid_request_error");
    }
}

class ResponsesReply : public ProviderTest {
protected:
    ResponsesReply() : ProviderTest(std::make_unique<OpenAiResponses>(default_settings)) {}

    static std::string item(int index, std::string const& begun, std::string const& done) {
        std::string const at = R"(,"output_index":)" + std::to_string(index);
        return event(R"({"type":"response.output_item.added")" + at + R"(,"item":)" + begun + "}") +
               event(R"({"type":"response.output_item.done")" + at + R"(,"item":)" + done + "}");
    }
    static std::string end(std::string const& status, std::string const& members = "") {
        return event(R"({"type":"response.)" + status + R"(","response":{)" + members + "}}");
    }
};

TEST_F(ResponsesReply, Reasoning_IsKeptUnchanged) {
    std::string const text =
        R"({"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],)";
    answer(item(0, R"({"type":"reasoning","id":"rs_1","summary":[]})",
                text + R"("encrypted_content": "e+","status":"completed"})") +
           item(1, R"({"type":"message"})",
                R"({"type":"message","phase":"final_answer","content":[{"type":"output_text",)"
                R"("text":"yes"}]})") +
           end("completed",
               R"("usage":{"input_tokens":5,"output_tokens":9,"input_tokens_details":)"
               R"({"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":7}})"));
    EXPECT_EQ(reply().parts.text(),
              R"([{"type":"reasoning","text":"hm","providerData":{"from":"openai-responses/m",)"
              R"("item":)" +
                  text +
                  R"("encrypted_content":"e+"}}},{"type":"text","text":"yes",)"
                  R"("providerData":{"from":"openai-responses/m","phase":"final_answer"}}])");
    EXPECT_EQ(reply().usage, (session::Usage{5, 9, 3, 7}));
    EXPECT_THAT(deltas, ElementsAre("r0:hm", "t0:yes"));
}

TEST_F(ResponsesReply, UnfinishedItem_IsNoCall) {
    std::string const begun =
        event(R"({"type":"response.output_item.added","output_index":0,"item":)"
              R"({"type":"function_call","call_id":"c","name":"deploy","arguments":""}})");
    answer(begun + end("completed"));
    EXPECT_TRUE(trouble().may_retry);
    answer(begun + begun + end("completed"));
    EXPECT_TRUE(trouble().may_retry);
    // The item is sent only at its end, as a whole.
    std::string const done = R"({"type":"function_call","call_id":"c","name":"deploy",)"
                             R"("arguments":"{\"a\":1}"})";
    answer(event(R"({"type":"response.output_item.done","output_index":0,"item":)" + done + "}") +
           end("completed"));
    ASSERT_EQ(reply().calls.size(), 1U);
    EXPECT_EQ(reply().calls[0].id, "c");
    EXPECT_EQ(reply().calls[0].input.text(), R"({"a":1})");
}

TEST_F(ResponsesReply, StopReason_IsReported) {
    answer(end("incomplete", R"("incomplete_details":{"reason":"content_filter"})"));
    EXPECT_EQ(reply().finish, FinishReason::refusal);
    answer(end("incomplete", R"("incomplete_details":{"reason":"bored"})"));
    EXPECT_TRUE(trouble().may_retry);
    answer(item(0, R"({"type":"message"})",
                R"({"type":"message","content":[{"type":"refusal","refusal":"no"}]})") +
           end("completed"));
    EXPECT_EQ(reply().finish, FinishReason::refusal);
    EXPECT_EQ(reply().text, "no");
    answer(end("failed", R"("error":{"code":"server_error","message":"oh"})"));
    EXPECT_TRUE(trouble().may_retry);
    EXPECT_THAT(trouble().error.message, HasSubstr("oh"));
    answer(event(R"({"type":"error","code":"invalid_prompt","message":"bad"})"));
    EXPECT_FALSE(trouble().may_retry);
}

class GeminiReply : public ProviderTest {
protected:
    GeminiReply() : ProviderTest(std::make_unique<Gemini>(default_settings)) {}

    static std::string parts(std::string const& parts, std::string const& more = "") {
        return event(R"({"candidates":[{"index":0,"content":{"role":"model","parts":[)" + parts +
                     "]}" + more + "}]}");
    }
    std::string const stop = R"(,"finishReason":"STOP")";
};

TEST_F(GeminiReply, Request_HasTheKeyInAHeader) {
    ask();
    EXPECT_EQ(http.requests.at(0).url,
              "http://localhost/v1/models/m:streamGenerateContent?alt=sse");
    port::HttpHead const sent{0, http.requests[0].headers};
    EXPECT_EQ(sent.header("x-goog-api-key"), "sk-secret");
}

TEST_F(GeminiReply, Signature_StaysWithItsPart) {
    answer(parts(R"({"text":"h","thought":true})") + parts(R"({"text":"m","thought":true})") +
           parts(R"({"text":"ye"},{"text":"s"})") +
           parts(R"({"text":"!","thoughtSignature":"s"},)"
                 R"({"functionCall":{"name":"deploy"},"thoughtSignature":"t"},)"
                 R"({"functionCall":{"name":"deploy","args":{"a":1}}})") +
           parts(R"({"text":"","thoughtSignature":"u"})", stop) +
           event(R"({"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":3,)"
                 R"("candidatesTokenCount":4,"thoughtsTokenCount":6}})"));
    EXPECT_EQ(reply().parts.text(),
              R"([{"type":"reasoning","text":"hm"},{"type":"text","text":"yes"},)"
              R"({"type":"text","text":"!","providerData":{"from":"gemini/m","signature":"s"}},)"
              R"({"type":"reasoning","text":"","providerData":{"from":"gemini/m","call":1,)"
              R"("signature":"t"}},{"type":"reasoning","text":"","providerData":)"
              R"({"from":"gemini/m","after":2,"signature":"u","text":true}}])");
    EXPECT_EQ(reply().text, "yes!");
    EXPECT_EQ(reply().calls.at(0).input.text(), "{}");
    EXPECT_EQ(reply().calls.at(1).input.text(), R"({"a":1})");
    EXPECT_EQ(reply().usage, (session::Usage{5, 10, 3, 6}));
}

TEST_F(GeminiReply, StopReason_IsReported) {
    for (std::string const reason : {"SAFETY", "RECITATION", "PROHIBITED_CONTENT"}) {
        answer(
            parts(R"({"functionCall":{"name":"deploy"}})", R"(,"finishReason":")" + reason + "\""));
        EXPECT_EQ(reply().finish, FinishReason::refusal);
        EXPECT_TRUE(reply().calls.empty());
    }
    answer(event(R"({"promptFeedback":{"blockReason":"SAFETY"}})"));
    EXPECT_EQ(reply().finish, FinishReason::refusal);
    answer(parts("", R"(,"finishReason":"MALFORMED_FUNCTION_CALL")"));
    EXPECT_TRUE(trouble().may_retry);
    answer(parts("", R"(,"finishReason":"FUNCTION_CALL")"));
    EXPECT_TRUE(trouble().may_retry) << "there is no call";
}

class OllamaReply : public ProviderTest {
protected:
    OllamaReply()
        : ProviderTest(std::make_unique<Ollama>(default_settings), "application/x-ndjson") {}
};

TEST_F(OllamaReply, Thinking_IsMarked_LastLineNeedsNoLineBreak) {
    answer(
        "{\"message\":{\"thinking\":\"h\"}}\n{\"message\":{\"content\":\"yes\"}}\r\n"
        "{\"message\":{\"thinking\":\"m\",\"tool_calls\":[{\"id\":\"c\",\"function\":"
        "{\"name\":\"deploy\",\"arguments\":\"{\\\"a\\\":1}\"}}]}}\n"
        "{\"done\":true,\"prompt_eval_count\":5,\"eval_count\":9}");
    EXPECT_EQ(reply().parts.text(),
              R"([{"type":"reasoning","text":"hm","providerData":{"from":"ollama/m"}},)"
              R"({"type":"text","text":"yes"}])");
    EXPECT_EQ(reply().calls.at(0).id, "c");
    EXPECT_EQ(reply().calls[0].input.text(), R"({"a":1})");
    EXPECT_EQ(reply().usage, (session::Usage{5, 9, 0, 0}));
    EXPECT_THAT(deltas, testing::Contains("r0:m"));
}

TEST_F(OllamaReply, LoadReply_IsTemporaryFailure) {
    answer("{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"load\"}\n");
    EXPECT_TRUE(trouble().may_retry);
}

}  // namespace
}  // namespace dormouse::model
