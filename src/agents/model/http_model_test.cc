#include "model/http_model.h"

#include "json/json.h"
#include "model/providers/openai_chat.h"
#include "model/test_provider.h"

namespace dormouse::model {
namespace {

using namespace agent;

std::string delta(std::string_view members) {
    return event(R"({"choices":[{"index":0,"delta":{)" + std::string(members) + "}}]}");
}
std::string text_delta(std::string_view text) { return delta(R"("content":)" + json::quote(text)); }
std::string fragment(int index, std::string_view id, std::string_view name,
                     std::string_view arguments) {
    json::Writer out;
    out.begin_object().member("index", index);
    if (!id.empty()) out.member("id", id).member("type", "function");
    out.key("function").begin_object();
    if (!name.empty()) out.member("name", name);
    out.member("arguments", arguments).end_object().end_object();
    return delta(R"("tool_calls":[)" + out.take() + "]");
}
std::string finish(std::string_view reason) {
    return event(R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(reason) +
                 R"("}]})");
}
std::string const usage =
    event(R"({"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,)"
          R"("prompt_tokens_details":{"cached_tokens":8}}})");
std::string const end = "data: [DONE]\n\n";

class OpenAiChatTest : public ProviderTest {
protected:
    OpenAiChatTest()
        : ProviderTest(std::make_unique<OpenAiChat>(RequestSettings{.model = "gpt"})) {}
};

TEST_F(OpenAiChatTest, Request_HasKeyHeadersAndLimits) {
    ask();
    port::HttpRequest const& request = http.requests.at(0);
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.url, "http://localhost/v1/chat/completions");
    port::HttpHead const sent{0, request.headers};
    EXPECT_EQ(sent.header("Authorization"), "Bearer sk-secret");
    EXPECT_EQ(sent.header("Content-Type"), "application/json");
    EXPECT_EQ(sent.header("X-Team"), "blue-secret");
    EXPECT_EQ(request.total_limit, Duration(90'000));
    EXPECT_EQ(request.redirects_max, 0U);
    EXPECT_TRUE(request.send_once);
    EXPECT_THAT(request.body, HasSubstr(R"({"role":"user","content":"hi"})"));
    EXPECT_EQ(model.limits().concurrency, 3U);
}

TEST_F(OpenAiChatTest, Stream_YieldsTextAndUsage) {
    std::string const stream = delta(R"("role":"assistant","content":"")") + text_delta("Hel") +
                               text_delta("lo") + finish("stop") + usage + end;
    answer(stream);
    EXPECT_EQ(reply().text, "Hello");
    EXPECT_EQ(reply().finish, FinishReason::stop);
    EXPECT_EQ(reply().usage, (session::Usage{12, 5, 8}));
    EXPECT_TRUE(reply().calls.empty());
    EXPECT_THAT(deltas, ElementsAre("t0:Hel", "t0:lo"));
    for (std::size_t piece = 1; piece < 40; ++piece) {
        answer(stream, {}, piece);
        EXPECT_EQ(reply().text, "Hello") << piece;
    }
}

TEST_F(OpenAiChatTest, ParallelCalls_AreJoinedByIndex) {
    answer(fragment(0, "a", "deploy", "") + fragment(1, "b", "ask", R"({"q")") +
           fragment(0, "", "", R"({"target":)") + fragment(1, "", "", R"(:1})") +
           fragment(0, "", "", R"("A"})") + finish("tool_calls") + end);
    ASSERT_EQ(reply().calls.size(), 2U);
    EXPECT_EQ(reply().calls[0].id, "a");
    EXPECT_EQ(reply().calls[0].tool, "deploy");
    EXPECT_EQ(reply().calls[0].input.text(), R"({"target":"A"})");
    EXPECT_EQ(reply().calls[1].id, "b");
    EXPECT_EQ(reply().calls[1].input.text(), R"({"q":1})");
    EXPECT_EQ(reply().finish, FinishReason::stop);
    EXPECT_THAT(deltas, ElementsAre(R"(i2ask:{"q")", R"(i1deploy:{"target":)", "i2ask::1}",
                                    R"(i1deploy:"A"})"));
}

TEST_F(OpenAiChatTest, Calls_OtherUsesOfIndexAndId_AreAccepted) {
    // All have index 0; the ids differ.
    answer(fragment(0, "a", "deploy", "{}") + fragment(0, "b", "deploy", R"({"n":2})") +
           finish("stop") + end);
    ASSERT_EQ(reply().calls.size(), 2U);
    EXPECT_EQ(reply().calls[1].input.text(), R"({"n":2})");
    // The same id under two indexes: two calls. The id in each fragment: one call.
    answer(fragment(0, "a", "deploy", "{}") + fragment(1, "a", "deploy", "{") +
           fragment(1, "a", "deploy", "}") + finish("tool_calls") + end);
    ASSERT_EQ(reply().calls.size(), 2U);
    EXPECT_EQ(reply().calls[1].tool, "deploy");
    // No index.
    answer(delta(R"("tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},)"
                 R"({"id":"b","function":{"name":"y","arguments":"{}"}}])") +
           finish("tool_calls") + end);
    EXPECT_EQ(reply().calls.size(), 2U);
}

TEST_F(OpenAiChatTest, InvalidArguments_AreReportedToTheModel) {
    answer(fragment(0, "a", "x", "") + fragment(1, "b", "x", "null") +
           fragment(2, "c", "x", R"({"a":)") + fragment(3, "d", "x", "[1]") + finish("tool_calls") +
           end);
    auto const& calls = reply().calls;
    ASSERT_EQ(calls.size(), 4U);
    EXPECT_EQ(calls[0].input.text(), "{}");
    EXPECT_EQ(calls[1].input.text(), "{}");
    EXPECT_FALSE(calls[1].unreadable);
    EXPECT_TRUE(calls[2].unreadable);
    EXPECT_EQ(calls[2].input.text(), R"("{\"a\":")");
    EXPECT_EQ(calls[3].input.text(), "[1]");  // the tool's schema rejects it later
}

TEST_F(OpenAiChatTest, CutReply_KeepsTextAndDropsCalls) {
    answer(text_delta("so") + fragment(0, "a", "deploy", R"({"target":"pro)") + finish("length") +
           end);
    EXPECT_EQ(reply().finish, FinishReason::length);
    EXPECT_EQ(reply().text, "so");
    EXPECT_TRUE(reply().calls.empty());
}

TEST_F(OpenAiChatTest, Refusal_IsReported) {
    answer(delta(R"("refusal":"I cannot")") + finish("stop") + end);
    EXPECT_EQ(reply().finish, FinishReason::refusal);
    EXPECT_EQ(reply().text, "I cannot");
    answer(text_delta("par") + fragment(0, "a", "x", "{}") + finish("content_filter") + end);
    EXPECT_EQ(reply().finish, FinishReason::refusal);
    EXPECT_TRUE(reply().calls.empty());
}

TEST_F(OpenAiChatTest, Reasoning_IsSeparateFromText) {
    answer(delta(R"("reasoning_content":"hm")") + delta(R"("reasoning":"m")") + text_delta("yes") +
           finish("stop") + end);
    EXPECT_EQ(reply().reasoning, "hmm");
    EXPECT_EQ(reply().text, "yes");
    EXPECT_THAT(deltas, ElementsAre("r0:hm", "r0:m", "t0:yes"));
}

TEST_F(OpenAiChatTest, StreamEndsTooEarly_IsTemporaryFailure) {
    std::string const call = fragment(0, "a", "deploy", R"({"target":"A"})");
    for (std::string const& cut :
         {std::string(), text_delta("so"), call, call + end, call + "data: {\"choi", usage}) {
        answer(cut);
        EXPECT_TRUE(trouble().may_retry) << cut;
        answer(cut, lost());
        EXPECT_TRUE(trouble().may_retry) << cut;
    }
    // The reply is complete; only what follows it is missing.
    answer(call + finish("tool_calls"), lost());
    EXPECT_EQ(reply().calls.size(), 1U);
    answer(call + finish("tool_calls"));
    EXPECT_EQ(reply().calls.size(), 1U);
}

TEST_F(OpenAiChatTest, InvalidEvent_IsTemporaryFailure) {
    for (std::string const& bad :
         {event("{"), event("\xff"), event(R"({"a":1,"a":2})"), finish("tool_calls") + end,
          finish("insufficient_system_resource") + end,
          event(R"({"error":{"message":"overloaded","type":"server_error"}})")}) {
        answer(text_delta("so") + bad + text_delta("on"));
        EXPECT_TRUE(trouble().may_retry) << bad;
    }
    // Valid: unknown members, and unexpected types of them.
    answer(event("1") + event(R"({"choices":{}})") + event(R"({"choices":[1,{"delta":7}]})") +
           event(R"({"choices":[{"index":1,"delta":{"content":"other"}}],"usage":null})") +
           text_delta("fine") + finish("stop") + end);
    EXPECT_EQ(reply().text, "fine");
}

TEST_F(OpenAiChatTest, ArgumentsAndCalls_HaveLimits) {
    answer(fragment(0, "a", "deploy", std::string(10'000'000, ' ')) + finish("tool_calls") + end);
    EXPECT_FALSE(trouble().may_retry);
    std::string many;
    for (int i = 0; i < 1'100; ++i) many += fragment(0, "", "", std::string(1'000, ' '));
    answer(many + finish("tool_calls") + end);
    EXPECT_THAT(trouble().error.message, HasSubstr("larger than 1048576 bytes"));
    many.clear();
    for (int i = 0; i < 1'000; ++i) many += fragment(i, "a", "deploy", "{}");
    answer(many + finish("tool_calls") + end);
    EXPECT_EQ(reply().calls.size(), 1'000U);
    answer(many + fragment(1'000, "a", "deploy", "{}") + finish("tool_calls") + end);
    EXPECT_THAT(trouble().error.message, HasSubstr("more than 1000 calls"));
    many.clear();
    for (int i = 0; i < 9; ++i) many += text_delta(std::string(1'000'000, 'x'));
    answer(many + finish("stop") + end);
    EXPECT_THAT(trouble().error.message, HasSubstr("the reply is larger"));
    EXPECT_EQ(http.cancelled.size(), 4U) << "a reply over the limit is aborted";
}

TEST_F(OpenAiChatTest, Status_DecidesRetry) {
    ask();
    http.head(429, "application/json", {{"Retry-After", "7"}});
    http.data(R"({"error":{"message":"Rate limit )");
    http.data(R"(of sk-secret, blue-secret"}})");
    http.done();
    EXPECT_TRUE(trouble().may_retry);
    EXPECT_EQ(trouble().retry_after, Duration(7'000));
    EXPECT_EQ(trouble().error.message,
              "main: the provider answered 429: Rate limit of [secret], [secret]");
    outcomes.clear();
    ask();
    http.head(400, "application/json");
    http.done();
    EXPECT_FALSE(trouble().may_retry);
}

TEST_F(OpenAiChatTest, NoAnswer_IsTemporaryFailure) {
    ask();
    http.done(port::HttpFailure{port::HttpFailure::Kind::no_route, "nobody listens", false});
    EXPECT_TRUE(trouble().may_retry);
    EXPECT_THAT(trouble().error.message, HasSubstr("nobody listens"));
}

TEST_F(OpenAiChatTest, AnswerWithoutStream_IsReported) {
    ask();
    http.head(200, "text/html");
    http.data("<html>Welcome, sk-secret</html>");
    http.done();
    EXPECT_FALSE(trouble().may_retry);
    EXPECT_THAT(trouble().error.message, HasSubstr("not an event stream"));
    EXPECT_THAT(trouble().error.message, Not(HasSubstr("sk-secret")));
}

TEST_F(OpenAiChatTest, Stop_CancelsTheRequest) {
    ask();
    http.head(200);
    http.data(text_delta("so"));
    stop();
    EXPECT_THAT(http.cancelled, ElementsAre(1U));
    EXPECT_TRUE(outcomes.empty());
}

}  // namespace
}  // namespace dormouse::model
