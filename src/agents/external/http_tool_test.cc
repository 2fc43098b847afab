#include "external/http_tool.h"

#include "json/json.h"
#include "webhook/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::external {
namespace {

using namespace session;
using Kind = port::HttpFailure::Kind;
using testing::HasSubstr;

class FakeClient final : public port::HttpClient {
public:
    port::HttpId start(port::HttpRequest what, port::HttpCallbacks how) override {
        request = std::move(what);
        callbacks = std::move(how);
        return 9;
    }
    void cancel(port::HttpId id) override { cancelled.push_back(id); }

    [[nodiscard]] std::string header(std::string_view name) const {
        std::string found = "none";
        for (port::HttpHeader const& header : request.headers) {
            if (header.name == name) found = header.value;
        }
        return found;
    }

    port::HttpRequest request;
    port::HttpCallbacks callbacks;
    std::vector<port::HttpId> cancelled;
};

class FixedClock final : public port::Clock {
public:
    [[nodiscard]] Time now() const override { return from_ms(1'795'290'000'999); }
    [[nodiscard]] Duration monotonic() const override { return {}; }
};

class HttpToolTest : public ::testing::Test {
protected:
    HttpToolTest() {
        options.declared.name = "deploy";
        options.url = "https://ci.example.org/deploy";
        call.pending.call = 3;
        call.tool = "deploy";
        call.input = Json::trusted(R"({"ref":"main","n":10000000000000001})");
        call.callback_url = "https://dm.example.org/c/cap_x";
        call.deadline = from_ms(1'800'000'000'000);
    }
    void start() {
        auto tool = make_http_tool(options, client, clock);
        ASSERT_TRUE(tool) << tool.error().detail;
        stop = tool->start(call, [this](agent::ToolResult result) { out = std::move(result); });
    }
    agent::ToolResult answers(std::uint16_t status, std::string body = {},
                              std::vector<port::HttpHeader> headers = {}) {
        start();
        client.callbacks.head({status, std::move(headers)});
        if (!body.empty()) client.callbacks.data(body);
        client.callbacks.done(std::nullopt);
        return out;
    }
    agent::ToolResult breaks(Kind kind, bool sent, std::uint16_t status = 0) {
        start();
        if (status != 0) client.callbacks.head({status, {}});
        client.callbacks.done(port::HttpFailure{kind, "reason", sent});
        return out;
    }
    std::string fault() {
        auto const tool = make_http_tool(options, client, clock);
        return tool ? "" : tool.error().detail;
    }
    static std::string done(agent::ToolResult const& result) {
        auto const* is = std::get_if<agent::Done>(&result);
        return is ? std::string(is->output.text()) : "not done";
    }
    static std::string failed(agent::ToolResult const& result) {
        auto const* is = std::get_if<agent::Failed>(&result);
        return is ? is->message : "not failed";
    }
    static bool lost(agent::ToolResult const& result) {
        return std::holds_alternative<InDoubt>(result);
    }

    FakeClient client;
    FixedClock clock;
    HttpTool options;
    agent::ToolCall call;
    agent::StopTool stop;
    agent::ToolResult out = agent::Failed{"nothing came"};
};

TEST_F(HttpToolTest, DefaultBody_HasWhatALaterAnswerNeeds) {
    start();
    EXPECT_EQ(client.request.method, "POST");
    EXPECT_EQ(client.request.url, "https://ci.example.org/deploy");
    EXPECT_EQ(client.request.body,
              R"({"pendingID":")" + call.pending.text() + R"(","sessionID":")" +
                  call.pending.session.text() +
                  R"(","callID":"call_3","tool":"deploy","input":{"ref":"main",)"
                  R"("n":10000000000000001},"attempt":1,)"
                  R"("callbackURL":"https://dm.example.org/c/cap_x","deadline":1800000000000})");
    EXPECT_EQ(client.header("Content-Type"), "application/json");
    EXPECT_EQ(client.header("Idempotency-Key"), call.pending.text());
    EXPECT_EQ(client.header("webhook-signature"), "none");
    EXPECT_EQ(client.request.redirects_max, 0U);
}

TEST_F(HttpToolTest, BodyTemplate_IsFilled) {
    options.body = Json::trusted(
        R"({"ref":{"$input":"/ref"},"n":[{"$input":"/n"}],"gone":{"$input":"/no"},)"
        R"("inputs":{"id":{"$call":"pendingID"},"to":{"$call":"callbackURL"},"a":1.0}})");
    start();
    EXPECT_EQ(client.request.body,
              R"({"ref":"main","n":[10000000000000001],"gone":null,"inputs":{"id":")" +
                  call.pending.text() + R"(","to":"https://dm.example.org/c/cap_x","a":1.0}})");
}

TEST_F(HttpToolTest, Get_HasNoBody_UrlHasTheArguments) {
    options.method = "GET";
    options.url = "https://ci.example.org/status/{input.ref}";
    start();
    EXPECT_EQ(client.request.url, "https://ci.example.org/status/main");
    EXPECT_EQ(client.request.body, "");
    EXPECT_EQ(client.header("Content-Type"), "none");
}

TEST_F(HttpToolTest, ArgumentsInvalidInUrl_ErrorForModelNothingSent) {
    options.url = "https://ci.example.org/{input.ref}";
    call.input = Json::trusted(R"({"ref":".."})");
    start();
    EXPECT_EQ(failed(out), "ref must not be . or ..");
    EXPECT_EQ(client.request.url, "");
}

TEST_F(HttpToolTest, ConfiguredHeaders_OverrideDefaults) {
    options.headers = {{"Authorization", "Bearer s3cret"}, {"content-type", "application/x+json"}};
    start();
    EXPECT_EQ(client.header("Authorization"), "Bearer s3cret");
    EXPECT_EQ(client.header("content-type"), "application/x+json");
    EXPECT_EQ(client.header("Content-Type"), "none");
}

TEST_F(HttpToolTest, Secret_SignsTheRequest) {
    options.secret = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
    start();
    EXPECT_EQ(client.header("webhook-id"), call.pending.text());
    EXPECT_EQ(client.header("webhook-timestamp"), "1795290000");
    EXPECT_EQ(client.header("webhook-signature"),
              webhook::standard_signature(options.secret, call.pending.text(), 1'795'290'000,
                                          client.request.body));
}

TEST(WebhookSignature, Signature_IsThatOfStandardWebhooks) {
    EXPECT_EQ(webhook::standard_signature("whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH", "msg_1",
                                          1'795'290'000, R"({"a":1})"),
              "v1,FcHnDgOgfhErwFMQqPzovPtvW2nqCkP3hiDQHGxd1cw=");
}

TEST_F(HttpToolTest, Status200_ResultFormOrAnyJsonOrText) {
    auto const form = answers(200, R"({"title":"T","output":{"a":1},"metadata":{"m":2}})");
    ASSERT_EQ(done(form), R"({"a":1})");
    EXPECT_EQ(std::get<agent::Done>(form).title, "T");
    EXPECT_EQ(std::get<agent::Done>(form).metadata.text(), R"({"m":2})");
    EXPECT_EQ(done(answers(200, R"({"output":1,"other":2})")), R"({"output":1,"other":2})");
    EXPECT_EQ(done(answers(201, "[1]")), "[1]");
    EXPECT_EQ(done(answers(200, "all well\n")), R"("all well")");
    EXPECT_EQ(done(answers(204)), R"("")");
}

TEST_F(HttpToolTest, WrongContentType_IsReported) {
    EXPECT_THAT(failed(answers(200, "<html>", {{"Content-Type", "Application/JSON; charset=x"}})),
                HasSubstr("body that is not JSON"));
    EXPECT_THAT(failed(answers(200, "\xFF\xFE", {{"Content-Type", "text/plain"}})),
                HasSubstr("neither JSON nor text"));
    EXPECT_EQ(done(answers(200, "{}", {{"Content-Type", "text/html"}})), "{}");
}

TEST_F(HttpToolTest, OutputMismatchingSchema_IsAnErrorForTheModel) {
    options.declared.result_schema = Json::trusted(R"({"type":"string"})");
    EXPECT_THAT(failed(answers(200, "1")), HasSubstr("result schema"));
    EXPECT_EQ(std::get<PauseTerms>(answers(202)).schema.text(), R"({"type":"string"})");
}

TEST_F(HttpToolTest, Status202_MeansLater) {
    auto const result = answers(202, R"({"externalRef":"run-1","estimatedDuration":9,)"
                                     R"("placeholder":{"s":"q"},"more":true})");
    ASSERT_TRUE(std::holds_alternative<PauseTerms>(result));
    auto const& pause = std::get<PauseTerms>(result);
    EXPECT_EQ(pause.external_ref, "run-1");
    EXPECT_EQ(pause.estimated, Duration(9));
    EXPECT_EQ(pause.placeholder.text(), R"({"s":"q"})");
    EXPECT_TRUE(std::holds_alternative<PauseTerms>(answers(202, "<html>")))
        << "the job has started, whatever the body is";
    EXPECT_EQ(done(answers(201, "1")), "1");
}

TEST_F(HttpToolTest, WebhookUrlOfAnswer_Invalid_IsIgnored) {
    auto const url = [this](std::string_view given) {
        auto const result = answers(202, R"({"webhookURL":")" + std::string(given) + R"("})");
        return std::get<PauseTerms>(result).webhook_url;
    };
    EXPECT_EQ(url("https://hooks.example.org/x"), "https://hooks.example.org/x");
    for (char const* const wrong : {"no address", "ftp://example.org/", "https://", "javascript:x"})
        EXPECT_EQ(url(wrong), "") << wrong;
}

TEST_F(HttpToolTest, Later_FollowsConfiguration) {
    options.later = Later::any_2xx;
    options.external_ref = "/run/id";
    auto const result = answers(201, R"({"run":{"id":42},"externalRef":"not ours"})");
    ASSERT_TRUE(std::holds_alternative<PauseTerms>(result));
    EXPECT_EQ(std::get<PauseTerms>(result).external_ref, "42");
    EXPECT_TRUE(std::holds_alternative<PauseTerms>(answers(204)));
    options.later = Later::never;
    EXPECT_EQ(done(answers(202, "1")), "1");
    EXPECT_TRUE(make_http_tool(options, client, clock)->terms.may_pause.empty());
}

TEST_F(HttpToolTest, Status4xx_ErrorForTheModel) {
    EXPECT_EQ(failed(answers(404, "no such ref")), "the service answered 404: no such ref");
    EXPECT_EQ(failed(answers(422)), "the service answered 422");
    EXPECT_LT(failed(answers(400, std::string(100'000, 'x'))).size(), 2'200U);
}

TEST_F(HttpToolTest, TemporaryStatus_FollowsCrashPolicy) {
    constexpr std::uint16_t passing[] = {408, 425, 429, 500, 502, 503, 504, 599};
    for (std::uint16_t const status : passing) EXPECT_TRUE(lost(answers(status, "busy"))) << status;
    auto const later = answers(429, "", {{"Retry-After", "30"}});
    EXPECT_EQ(std::get<InDoubt>(later).retry_after, Duration(30'000));
    auto const huge = answers(503, "", {{"retry-after", "18446744073709551615"}});
    EXPECT_EQ(std::get<InDoubt>(huge).retry_after, std::nullopt) << "an absurd value is ignored";
    auto const date = answers(503, "", {{"retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"}});
    EXPECT_EQ(std::get<InDoubt>(date).retry_after, Duration(0)) << "the date has passed";
}

TEST_F(HttpToolTest, Redirect_IsNotFollowed) {
    EXPECT_THAT(failed(answers(302, "", {{"location", "http://169.254.169.254/"}})),
                HasSubstr("not followed"));
}

TEST_F(HttpToolTest, NoAnswer_FollowsCrashPolicyUnlessNothingWasSent) {
    EXPECT_TRUE(lost(breaks(Kind::timed_out, true)));
    EXPECT_TRUE(lost(breaks(Kind::lost, true, 200))) << "closed in the middle of the answer";
    auto const unheard = breaks(Kind::no_route, false);
    EXPECT_EQ(failed(unheard), "the service gave no answer: reason");
    EXPECT_TRUE(std::get<agent::Failed>(unheard).nothing_done);
    EXPECT_FALSE(std::get<agent::Failed>(breaks(Kind::bad_request, false)).nothing_done);
}

TEST_F(HttpToolTest, TooMuchOutput_IsAnErrorForTheModel) {
    EXPECT_THAT(failed(breaks(Kind::too_large, true, 200)), HasSubstr("8 MiB"));
    EXPECT_TRUE(lost(breaks(Kind::too_large, true, 500)));
    EXPECT_EQ(client.request.response_max, std::size_t{8} << 20);
}

TEST_F(HttpToolTest, Request_HasTheToolsTimeLimit) {
    options.declared.time_limit = Duration(5'000);
    start();
    EXPECT_EQ(client.request.total_limit, Duration(5'000));
    EXPECT_EQ(client.request.connect_limit, Duration(5'000));
}

TEST_F(HttpToolTest, Client_RetriesOnlyIfTheToolMayRunTwice) {
    start();
    EXPECT_TRUE(client.request.send_once);
    options.declared.crash = CrashPolicy::retry;
    start();
    EXPECT_FALSE(client.request.send_once);
}

TEST_F(HttpToolTest, Stop_CancelsTheRequest) {
    start();
    stop();
    EXPECT_THAT(client.cancelled, testing::ElementsAre(9U));
}

TEST_F(HttpToolTest, InvalidConfiguration_IsRefusedWithReason) {
    options.method = "FETCH";
    EXPECT_THAT(fault(), HasSubstr("method \"FETCH\""));
    options.method = "GET";
    options.body = Json::trusted("{}");
    EXPECT_THAT(fault(), HasSubstr("must not be set for GET"));
    options.method = "POST";
    options.external_ref = "id";
    EXPECT_THAT(fault(), HasSubstr("external_ref"));
    options.external_ref = "/id";
    options.url = "example.org";
    EXPECT_THAT(fault(), HasSubstr("url"));
    options.url = "https://example.org";
    for (std::string const body :
         {R"({"a":{"$input":1}})", R"({"a":{"$input":"ref"}})", R"([{"$call":"token"}])",
          R"({"a":{"$input":"/a","b":1}})", R"({"a":{"$env":"HOME"}})"}) {
        options.body = Json::trusted(body);
        EXPECT_THAT(fault(), HasSubstr("body: ")) << body;
    }
}

class PollTest : public HttpToolTest {
protected:
    PollTest() {
        options.poll = Poll{"https://ci.example.org/jobs/{call.externalRef}?of={input.ref}",
                            Duration(30'000), "/done", "/result"};
        poll_call.pending = call.pending;
        poll_call.input = call.input;
        poll_call.tool = "deploy";
        poll_call.external_ref = "run/17";
    }
    void poll() {
        auto tool = make_http_tool(options, client, clock);
        ASSERT_TRUE(tool) << tool.error().detail;
        ASSERT_TRUE(tool->poll);
        stop = tool->poll(poll_call,
                          [this](agent::PollResult result) { outcome = std::move(result); });
    }
    agent::PollResult polled(std::uint16_t status, std::string body,
                             std::vector<port::HttpHeader> headers = {}) {
        poll();
        client.callbacks.head({status, std::move(headers)});
        if (!body.empty()) client.callbacks.data(body);
        client.callbacks.done(std::nullopt);
        return outcome;
    }
    std::string output(std::string body) {
        auto const result = polled(200, std::move(body));
        auto const* is = std::get_if<agent::Done>(&result);
        return is ? std::string(is->output.text()) : "not done";
    }
    std::string error(std::uint16_t status, std::string body) {
        auto const result = polled(status, std::move(body));
        auto const* is = std::get_if<agent::NotYet>(&result);
        return is ? is->error : "settled";
    }
    agent::PollCall poll_call;
    agent::PollResult outcome;
};

TEST_F(PollTest, Pause_SaysThatItIsPolled) {
    auto const pause = std::get<PauseTerms>(answers(202, R"({"externalRef":"run/17"})"));
    EXPECT_EQ(pause.poll_every, Duration(30'000));
    EXPECT_EQ(pause.external_ref, "run/17");
    options.poll.reset();
    EXPECT_FALSE(std::get<PauseTerms>(answers(202, "")).poll_every);
    EXPECT_FALSE(make_http_tool(options, client, clock)->poll);
}

TEST_F(PollTest, Poll_AsksWhetherItMayStillBegin) {
    bool may = true;
    poll_call.may_start = agent::MayStart([&may] { return [&may] { return may; }; });
    poll();
    ASSERT_TRUE(client.request.may_start);
    EXPECT_TRUE(client.request.may_start());
    may = false;
    EXPECT_FALSE(client.request.may_start());
}

TEST_F(PollTest, Poll_AsksTheJobsUrlByGet) {
    options.headers = {{"Authorization", "Bearer s"}};
    options.secret = "s3cret";
    options.declared.time_limit = Duration(5'000);
    poll();
    EXPECT_EQ(client.request.method, "GET");
    EXPECT_EQ(client.request.url, "https://ci.example.org/jobs/run%2F17?of=main");
    EXPECT_EQ(client.request.body, "");
    EXPECT_EQ(client.header("Authorization"), "Bearer s");
    EXPECT_EQ(client.header("webhook-id"), call.pending.text());
    EXPECT_EQ(client.request.total_limit, Duration(5'000));
    stop();
    EXPECT_THAT(client.cancelled, testing::ElementsAre(9U));
}

TEST_F(PollTest, Poll_IsDoneWhenTheValueIsTrue) {
    for (std::string const yes : {"true", "1", R"("success")", "{}", R"("2026-01-01")"})
        EXPECT_EQ(output(R"({"done":)" + yes + R"(,"result":{"url":"u"}})"), R"({"url":"u"})")
            << yes;
    for (std::string const no : {"false", "null", "0", R"("")"})
        EXPECT_EQ(error(200, R"({"done":)" + no + R"(,"result":1})"), "") << no;
    EXPECT_EQ(error(200, "{}"), "") << "absent";
    EXPECT_EQ(error(202, ""), "") << "not done yet";
    options.poll->output = "";
    EXPECT_EQ(output(R"({"done":true})"), R"({"done":true})") << "the whole answer";
}

TEST_F(PollTest, Poll_InvalidAnswer_IsRepeated) {
    EXPECT_THAT(error(503, "busy"), HasSubstr("answered 503: busy"));
    EXPECT_THAT(error(404, ""), HasSubstr("404"));
    EXPECT_THAT(error(302, ""), HasSubstr("302"));
    EXPECT_THAT(error(200, "<html>"), HasSubstr("not JSON"));
    poll();
    client.callbacks.done(port::HttpFailure{Kind::no_route, "reason", false});
    EXPECT_THAT(std::get<agent::NotYet>(outcome).error, HasSubstr("no answer: reason"));
    poll_call.external_ref = "";
    client.request = {};
    poll();
    EXPECT_THAT(std::get<agent::NotYet>(outcome).error, HasSubstr("externalRef must have"));
    EXPECT_EQ(client.request.url, "") << "nothing is sent";
}

TEST_F(PollTest, Poll_DoneWithoutValidResult_IsAnError) {
    auto const without = polled(200, R"({"done":true})");
    EXPECT_THAT(std::get<agent::Failed>(without).message, HasSubstr("nothing at /result"));
    options.declared.result_schema = Json::trusted(R"({"type":"string"})");
    auto const wrong = polled(200, R"({"done":true,"result":7})");
    EXPECT_THAT(std::get<agent::Failed>(wrong).message, HasSubstr("does not fit"));
}

TEST_F(PollTest, Poll_RetryAfter_SetsTheDelay) {
    auto const busy = polled(429, "", {{"Retry-After", "70"}});
    EXPECT_EQ(std::get<agent::NotYet>(busy).retry_after, Duration(70'000));
    auto const later = polled(200, "{}", {{"retry-after", "70"}});
    EXPECT_EQ(std::get<agent::NotYet>(later).retry_after, Duration(70'000));
}

TEST_F(PollTest, InvalidConfiguration_IsRefusedWithReason) {
    options.poll->url = "https://ci.example.org/{call.token}";
    EXPECT_THAT(fault(),
                HasSubstr("poll.url \"https://ci.example.org/{call.token}\": {call.NAME} must be"));
    options.poll->url = "https://ci.example.org/jobs";
    options.poll->done = "done";
    EXPECT_THAT(fault(), HasSubstr("poll.done"));
    options.poll->done = "/done";
    options.poll->output = "x";
    EXPECT_THAT(fault(), HasSubstr("poll.output"));
    options.poll->output = "";
    options.later = Later::never;
    EXPECT_THAT(fault(), HasSubstr("nothing to ask for"));
    options.later = Later::only_202;
    options.url = "https://ci.example.org/{call.pendingID}";
    EXPECT_THAT(fault(), HasSubstr("only {input.NAME} is allowed")) << "the body may contain it";
}

TEST_F(HttpToolTest, RetryAfter_MayBeADate) {
    options.declared.crash = CrashPolicy::retry;
    auto const wait = [&](std::string value) {
        return std::get<InDoubt>(answers(503, "", {{"Retry-After", std::move(value)}})).retry_after;
    };
    EXPECT_EQ(wait("30"), Duration(30'000));
    EXPECT_EQ(wait("Sat, 21 Nov 2026 19:40:41 GMT"), Duration(40'001));
    EXPECT_FALSE(wait("soon"));
}

}  // namespace
}  // namespace dormouse::external
