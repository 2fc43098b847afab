#include "model/provider_failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dormouse::model {
namespace {

using testing::HasSubstr;
using testing::Not;

Provider const provider{"main", {"sk-secret"}};
Time const now = from_ms(784'111'777'000);  // Sun, 06 Nov 1994 08:49:37 GMT

agent::ModelTrouble refused(std::uint16_t status, std::string const& body,
                            std::vector<port::HttpHeader> headers = {}) {
    return provider.refused({status, std::move(headers)}, body, now);
}

std::optional<std::int64_t> wait_ms(std::vector<port::HttpHeader> headers) {
    auto const wait = port::retry_after({429, std::move(headers)}, now);
    return wait ? std::optional<std::int64_t>(wait->count()) : std::nullopt;
}

TEST(ProviderFailure, Status_IsTemporaryOrPermanent) {
    for (std::uint16_t const status :
         std::initializer_list<std::uint16_t>{408, 409, 429, 500, 502, 503, 529})
        EXPECT_TRUE(refused(status, "").may_retry) << status;
    for (std::uint16_t const status :
         std::initializer_list<std::uint16_t>{201, 302, 400, 401, 403, 404, 413, 422})
        EXPECT_FALSE(refused(status, "").may_retry) << status;
    EXPECT_TRUE(refused(400, "", {{"X-Should-Retry", "true"}}).may_retry);
    EXPECT_FALSE(refused(503, "", {{"x-should-retry", "false"}}).may_retry);
    EXPECT_FALSE(refused(429, R"({"error":{"code":"insufficient_quota"}})").may_retry);
}

TEST(ProviderFailure, Message_IsFoundInEachForm) {
    for (std::string const body :
         {R"({"error":{"message":"no room","type":"x"}})", R"({"error":"no room"})",
          R"({"message":"no room"})", R"({"detail":"no room"})", "no room"})
        EXPECT_EQ(refused(503, body).error.message, "main: the provider answered 503: no room");
    EXPECT_THAT(refused(401, "").error.message, HasSubstr("api_key_env"));
    EXPECT_THAT(refused(404, "").error.message, HasSubstr("base_url"));
    EXPECT_EQ(refused(503, "").error.code, "model_failed");
    EXPECT_EQ(refused(400, R"({"error":{"code":"content_filter","message":"x"}})").error.code,
              "model_refused");
}

TEST(ProviderFailure, Message_HasNoSecretsOrControls_IsCut) {
    auto const text = refused(401, "the key sk-secret is bad\x1b[31m, sk-secret").error.message;
    EXPECT_THAT(text, HasSubstr("the key [secret] is bad"));
    EXPECT_THAT(text, Not(HasSubstr("sk-secret")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    std::string const euros = [] {
        std::string out;
        for (int i = 0; i < 10'000; ++i) out += "€";
        return out;
    }();
    auto const cut = refused(500, euros).error.message;
    EXPECT_LT(cut.size(), 650U);
    EXPECT_TRUE(cut.ends_with("€"));
    // Not even the beginning of a secret where the text is cut.
    EXPECT_THAT(refused(500, std::string(560, 'x') + "sk-secret").error.message,
                Not(HasSubstr("sk-")));
}

TEST(ProviderFailure, RetryAfter_EachForm_IsRead) {
    EXPECT_EQ(wait_ms({{"Retry-After", "7"}}), 7'000);
    EXPECT_EQ(wait_ms({{"Retry-After", "0.5"}}), 500);
    EXPECT_EQ(wait_ms({{"retry-after-ms", "1234"}, {"Retry-After", "7"}}), 1'234);
    EXPECT_EQ(wait_ms({{"Retry-After", "Sun, 06 Nov 1994 08:50:00 GMT"}}), 23'000);
    EXPECT_EQ(wait_ms({{"Retry-After", "Sun, 06 Nov 1994 08:50:00 GMT"},
                       {"Date", "Sun, 06 Nov 1994 08:49:59 GMT"}}),
              1'000);
    EXPECT_EQ(wait_ms({{"Retry-After", "Sun, 06 Nov 1994 08:00:00 GMT"}}), 0);
    for (std::string const bad : {"", "-1", "soon", "7 s", "nan", "1e99",
                                  "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37"})
        EXPECT_FALSE(wait_ms({{"Retry-After", bad}})) << bad;
    EXPECT_FALSE(wait_ms({}));
    EXPECT_EQ(refused(429, "", {{"Retry-After", "3"}}).retry_after, Duration(3'000));
    EXPECT_FALSE(refused(400, "", {{"Retry-After", "3"}}).retry_after);
    // Google puts it into the body.
    std::string const body =
        R"([{"error":{"code":429,"message":"slow down","details":[{"@type":"x"},)"
        R"({"retryDelay":"34.5s"}]}}])";
    EXPECT_EQ(refused(429, body).retry_after, Duration(34'500));
    EXPECT_EQ(refused(429, body, {{"Retry-After", "3"}}).retry_after, Duration(3'000));
    EXPECT_EQ(refused(429, body).error.message, "main: the provider answered 429: slow down");
}

TEST(ProviderFailure, Unreachable_IsTemporaryUnlessInvalid) {
    using Kind = port::HttpFailure::Kind;
    for (Kind const kind : {Kind::no_route, Kind::lost, Kind::timed_out, Kind::overloaded})
        EXPECT_TRUE(provider.unreachable({kind, "x", true}).may_retry);
    for (Kind const kind : {Kind::bad_request, Kind::tls, Kind::too_large})
        EXPECT_FALSE(provider.unreachable({kind, "x", true}).may_retry);
    EXPECT_EQ(provider.unreachable({Kind::lost, "reset", true}).error.message,
              "main: no answer from the provider: reset");
}

TEST(ProviderFailure, StreamError_TypeDecidesRetry) {
    auto const may = [](std::string_view body) { return provider.failed_midway(body).may_retry; };
    EXPECT_TRUE(may(R"({"error":{"message":"x","type":"server_error"}})"));
    EXPECT_TRUE(may(R"({"error":{"message":"x","code":502}})"));
    EXPECT_FALSE(may(R"({"error":{"message":"x","code":400}})"));
    EXPECT_FALSE(may(R"({"error":{"message":"x","type":"invalid_request_error"}})"));
    EXPECT_TRUE(may(R"({"type":"error","error":{"type":"overloaded_error","message":"x"}})"));
    EXPECT_FALSE(may(R"({"type":"error","error":{"type":"authentication_error","message":"x"}})"));
    EXPECT_TRUE(may(R"({"type":"error","code":"server_error","message":"x"})"));
    EXPECT_FALSE(may(R"({"type":"error","code":"insufficient_quota","message":"x"})"));
}

}  // namespace
}  // namespace dormouse::model
