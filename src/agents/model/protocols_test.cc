// Tests that hold for every protocol: one row of a table for each protocol.

#include "model/providers/anthropic.h"
#include "model/providers/gemini.h"
#include "model/providers/ollama.h"
#include "model/providers/openai_chat.h"
#include "model/providers/openai_responses.h"
#include "model/test_provider.h"

#include <functional>

namespace dormouse::model {
namespace {

struct ReplyCall {
    std::string id;
    std::string arguments;
};

// How a provider streams a reply of one text and calls of "deploy". `end`: with its end mark;
// `why`: the reason of a reply that stopped at the limit, else empty.
struct Row {
    std::string name;
    std::function<std::unique_ptr<Protocol const>()> protocol;
    std::function<std::string(std::string const& text, std::vector<ReplyCall> const&)> streamed;
    std::string stopped;  // ends a reply
    std::string called;   // ends a reply with calls
    std::string cut;      // ends a reply that reached the limit
    bool lines = false;
    bool ids = true;     // calls have ids
    bool pieces = true;  // arguments arrive in pieces of text, and may be invalid JSON
};

RequestSettings const settings{.model = "m"};
using Calls = std::vector<ReplyCall>;

std::string chat_reply(std::string const& text, Calls const& calls) {
    auto const choice = [](std::string const& delta) {
        return event(R"({"choices":[{"index":0,"delta":{)" + delta + "}}]}");
    };
    std::string out = choice(R"("content":)" + json::quote(text));
    int index = 0;
    for (ReplyCall const& call : calls) {
        out += choice(R"("tool_calls":[{"index":)" + std::to_string(index++) + R"(,"id":)" +
                      json::quote(call.id) + R"(,"function":{"name":"deploy","arguments":)" +
                      json::quote(call.arguments) + "}}]");
    }
    return out;
}

std::string anthropic_reply(std::string const& text, Calls const& calls) {
    std::string out = event(R"({"type":"message_start","message":{"usage":{"input_tokens":1}}})");
    int index = 0;
    auto const block = [&](std::string const& start, std::string const& delta) {
        std::string const at = R"(,"index":)" + std::to_string(index++);
        out +=
            event(R"({"type":"content_block_start")" + at + R"(,"content_block":)" + start + "}");
        out += event(R"({"type":"content_block_delta")" + at + R"(,"delta":)" + delta + "}");
        out += event(R"({"type":"content_block_stop")" + at + "}");
    };
    block(R"({"type":"text","text":""})",
          R"({"type":"text_delta","text":)" + json::quote(text) + "}");
    for (ReplyCall const& call : calls) {
        block(R"({"type":"tool_use","id":)" + json::quote(call.id) +
                  R"(,"name":"deploy","input":{}})",
              R"({"type":"input_json_delta","partial_json":)" + json::quote(call.arguments) + "}");
    }
    return out;
}
std::string anthropic_end(std::string const& reason) {
    return event(R"({"type":"message_delta","delta":{"stop_reason":")" + reason +
                 R"("},"usage":{"output_tokens":2}})") +
           event(R"({"type":"message_stop"})");
}

std::string responses_reply(std::string const& text, Calls const& calls) {
    std::string out;
    int index = 0;
    auto const item = [&](std::string const& begun, std::string const& delta,
                          std::string const& done) {
        std::string const at = R"(,"output_index":)" + std::to_string(index++);
        out += event(R"({"type":"response.output_item.added")" + at + R"(,"item":)" + begun + "}");
        out += event(R"({"type":"response.)" + delta + at + "}");
        out += event(R"({"type":"response.output_item.done")" + at + R"(,"item":)" + done + "}");
    };
    item(R"({"type":"message"})", R"(output_text.delta","delta":)" + json::quote(text),
         R"({"type":"message","content":[{"type":"output_text","text":)" + json::quote(text) +
             "}]}");
    for (ReplyCall const& call : calls) {
        std::string const head = R"({"type":"function_call","name":"deploy","call_id":)" +
                                 json::quote(call.id) + R"(,"arguments":)";
        std::string const quoted = json::quote(call.arguments);
        item(head + R"(""})", R"(function_call_arguments.delta","delta":)" + quoted,
             head + quoted + "}");
    }
    return out;
}

std::string gemini_reply(std::string const& text, Calls const& calls) {
    auto const chunk = [](std::string const& part) {
        return event(R"({"candidates":[{"index":0,"content":{"parts":[)" + part + "]}}]}");
    };
    std::string out = chunk(R"({"text":)" + json::quote(text) + "}");
    for (ReplyCall const& call : calls) {
        out += chunk(R"({"functionCall":{"name":"deploy","id":)" + json::quote(call.id) +
                     R"(,"args":)" + call.arguments + "}}");
    }
    return out;
}

std::string ollama_reply(std::string const& text, Calls const& calls) {
    std::string out = R"({"message":{"content":)" + json::quote(text) + "},\"done\":false}\n";
    for (ReplyCall const& call : calls) {
        out +=
            R"({"message":{"content":"","tool_calls":[{"function":{"name":"deploy","arguments":)" +
            call.arguments + "}}]},\"done\":false}\n";
    }
    return out;
}

std::vector<Row> rows() {
    auto const chat_end = [](std::string const& reason) {
        return event(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + reason + R"("}]})");
    };
    auto const gemini_end = [](std::string const& reason) {
        return event(R"({"candidates":[{"index":0,"finishReason":")" + reason + R"("}]})");
    };
    std::string const completed = event(R"({"type":"response.completed","response":{}})");
    return {
        {"chat", [] { return std::make_unique<OpenAiChat>(settings); }, chat_reply,
         chat_end("stop"), chat_end("tool_calls"), chat_end("length")},
        {"anthropic", [] { return std::make_unique<Anthropic>(settings); }, anthropic_reply,
         anthropic_end("end_turn"), anthropic_end("tool_use"), anthropic_end("max_tokens")},
        {"responses", [] { return std::make_unique<OpenAiResponses>(settings); }, responses_reply,
         completed, completed,
         event(R"({"type":"response.incomplete","response":{"incomplete_details":)"
               R"({"reason":"max_output_tokens"}}})")},
        {.name = "gemini",
         .protocol = [] { return std::make_unique<Gemini>(settings); },
         .streamed = gemini_reply,
         .stopped = gemini_end("STOP"),
         .called = gemini_end("STOP"),
         .cut = gemini_end("MAX_TOKENS"),
         .pieces = false},
        {.name = "ollama",
         .protocol = [] { return std::make_unique<Ollama>(settings); },
         .streamed = ollama_reply,
         .stopped = "{\"message\":{},\"done\":true,\"done_reason\":\"stop\"}\n",
         .called = "{\"message\":{},\"done\":true,\"done_reason\":\"stop\"}\n",
         .cut = "{\"message\":{},\"done\":true,\"done_reason\":\"length\"}\n",
         .lines = true,
         .ids = false,
         .pieces = false},
    };
}

class EveryProtocol : public ProviderTest, public testing::WithParamInterface<Row> {
protected:
    EveryProtocol()
        : ProviderTest(GetParam().protocol(),
                       GetParam().lines ? "application/x-ndjson" : "text/event-stream") {}
    Row const& row = GetParam();
    Calls const two{{"a", R"({"target":"A"})"}, {"b", R"({"target":"B"})"}};
};

TEST_P(EveryProtocol, Chunks_AnyBoundaries_SameReply) {
    std::string const stream = row.streamed("Höre", two) + row.called;
    for (std::size_t at = 1; at < stream.size(); ++at) {
        outcomes.clear();
        ask();
        http.head(200, stream_type);
        http.data(std::string_view(stream).substr(0, at));
        http.data(std::string_view(stream).substr(at));
        http.done();
        ASSERT_EQ(reply().calls.size(), 2U) << at;
        EXPECT_EQ(reply().text, "Höre") << at;
        EXPECT_EQ(reply().calls[0].tool, "deploy");
        EXPECT_EQ(reply().calls[0].input.text(), R"({"target":"A"})");
        EXPECT_EQ(reply().calls[1].input.text(), R"({"target":"B"})");
        EXPECT_EQ(reply().calls[1].id, row.ids ? "b" : "");
        EXPECT_EQ(reply().finish, FinishReason::stop);
    }
    answer(stream, {}, 1);
    EXPECT_THAT(deltas,
                ElementsAre("t0:Höre", R"(i1deploy:{"target":"A"})", R"(i2deploy:{"target":"B"})"));
}

TEST_P(EveryProtocol, StreamCutAnywhere_IsTemporaryFailure) {
    std::string const stream = row.streamed("so", two);
    for (std::size_t size = 0; size <= stream.size(); ++size) {
        for (bool const in_order : {true, false}) {
            answer(stream.substr(0, size),
                   in_order ? std::nullopt : std::optional<port::HttpFailure>(lost()));
            EXPECT_TRUE(trouble().may_retry) << size;
        }
    }
    answer(stream + row.called, lost());
    EXPECT_EQ(reply().calls.size(), 2U) << "the reply is complete; only the connection failed";
}

TEST_P(EveryProtocol, ReplyAtLimit_KeepsTextAndDropsCalls) {
    answer(row.streamed("so", two) + row.cut);
    EXPECT_EQ(reply().finish, FinishReason::length);
    EXPECT_EQ(reply().text, "so");
    EXPECT_TRUE(reply().calls.empty());
}

TEST_P(EveryProtocol, Calls_HaveALimit) {
    answer(row.streamed("none", {}) + row.stopped);
    EXPECT_TRUE(reply().calls.empty());
    Calls many(1'000, {"same", R"({"target":"A"})"});
    answer(row.streamed("", many) + row.called);
    EXPECT_EQ(reply().calls.size(), 1'000U) << "the same id each time: all are calls";
    many.push_back({"same", "{}"});
    answer(row.streamed("", many) + row.called);
    EXPECT_THAT(trouble().error.message, HasSubstr("more than 1000 calls"));
    EXPECT_FALSE(trouble().may_retry);
}

TEST_P(EveryProtocol, Arguments_HaveALimit) {
    for (std::size_t const size : {2'000'000U, 10'000'000U}) {
        std::string const big = R"({"target":")" + std::string(size, 'x') + "\"}";
        answer(row.streamed("", {{"a", big}}) + row.called);
        EXPECT_THAT(trouble().error.message, HasSubstr("larger than"));
        EXPECT_FALSE(trouble().may_retry);
    }
    EXPECT_EQ(http.cancelled.size(), 2U) << "a reply over the limit is aborted";
}

TEST_P(EveryProtocol, InvalidEvent_TemporaryFailure_UnknownOneIgnored) {
    auto const framed = [&](std::string const& json) {
        return row.lines ? json + "\n" : event(json);
    };
    for (std::string const& bad : {framed("{"), framed("\xff"), framed(R"({"a":1,"a":2})"),
                                   framed(R"({"error":{"message":"x","type":"server_error"}})"),
                                   framed(R"({"error":"x"})")}) {
        answer(row.streamed("so", two) + bad + row.called);
        EXPECT_TRUE(trouble().may_retry) << bad;
    }
    std::string odd;
    for (std::string_view const json :
         {"1", "[]", R"({"type":7,"choices":{},"candidates":1,"message":[]})",
          R"({"type":"content_block_delta","index":99,"delta":{"text":"x"}})",
          R"({"type":"content_block_stop","index":98})",
          R"({"type":"response.output_text.delta","output_index":97,"delta":"x"})",
          R"({"type":"ping","error":null})",
          R"({"candidates":[{"index":1,"finishReason":"STOP"}]})",
          R"({"choices":[{"index":1,"delta":{"content":"x"}}]})"})
        odd += framed(std::string(json));
    answer(odd + row.streamed("fine", {}) + row.stopped);
    EXPECT_EQ(reply().text, "fine");
}

TEST_P(EveryProtocol, InvalidArguments_AreReportedToTheModel) {
    if (row.pieces) {
        answer(row.streamed("", {{"a", R"({"target":)"}}) + row.called);
        ASSERT_EQ(reply().calls.size(), 1U);
        EXPECT_TRUE(reply().calls[0].unreadable);
    }
    for (std::string const odd : {"[1]", "\"text\"", "7"}) {
        answer(row.streamed("", {{"a", odd}}) + row.called);
        ASSERT_EQ(reply().calls.size(), 1U) << "the tool's schema checks" << odd;
    }
    answer(row.streamed("", {{"a", "null"}}) + row.called);
    EXPECT_EQ(reply().calls.at(0).input.text(), "{}");
}

TEST_P(EveryProtocol, Errors_ContainNoSecret) {
    for (std::uint16_t const status : std::initializer_list<std::uint16_t>{200, 401, 429, 529}) {
        outcomes.clear();
        ask();
        http.head(status, "text/html");
        http.data("no: sk-secret, blue-secret");
        http.done();
        EXPECT_THAT(trouble().error.message, Not(HasSubstr("-secret")));
        EXPECT_EQ(trouble().may_retry, status > 401);
    }
    for (port::HttpRequest const& request : http.requests) {
        EXPECT_THAT(request.url + request.body, Not(HasSubstr("sk-secret")));
        EXPECT_TRUE(request.send_once);
    }
}

INSTANTIATE_TEST_SUITE_P(Providers, EveryProtocol, testing::ValuesIn(rows()),
                         [](auto const& one) { return one.param.name; });

}  // namespace
}  // namespace dormouse::model
