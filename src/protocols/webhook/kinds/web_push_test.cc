// Messages to browsers, against the examples of RFC 8291 (appendix A) and RFC 8292 (section 2.4).

#include "webhook/kinds/web_push.h"

#include "base/text/base64url.h"
#include "base/text/text.h"
#include "webhook/testing/request_header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace dormouse::webhook {
namespace {

template <class Bytes> Bytes bytes(std::string_view text) {
    Bytes out{};
    std::string const read = parse_base64url(text).value();
    std::ranges::transform(read, out.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
    return out;
}

constexpr std::string_view browser_key =
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
auto const secret = bytes<P256Secret>("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");

port::DeviceRow row() {
    port::DeviceRow out;
    out.id = "dev_1";
    out.endpoint = "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV";
    out.p256dh = browser_key;
    out.auth = "BTBZMqHH6r4Tts7J_aSIgg";
    return out;
}

PushRandom random() {
    PushRandom out{.secret = secret};
    auto const salt = bytes<std::array<std::uint8_t, 16>>("DGv6ra1nlYgDCS1FRnbzlw");
    std::ranges::copy(salt, out.salt.begin());
    return out;
}

std::string encoded(std::string_view text) {
    return base64url(std::vector<std::uint8_t>(text.begin(), text.end()));
}

PushSender sender(std::string contact = "mailto:push@example.com") {
    return push_sender(secret, std::move(contact)).value();
}

TEST(WebPush, Body_IsThatOfRfc8291AppendixA) {
    auto const body = push_body(push_device(row()).value(),
                                "When I grow up, I want to be a watermelon", random());
    ASSERT_TRUE(body);
    EXPECT_EQ(encoded(*body),
              "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLoc"
              "InmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLV"
              "WGNWQexSgSxsj_Qulcy4a-fN");
}

TEST(WebPush, Body_LongestText_Has4096Bytes) {
    auto const device = push_device(row()).value();
    EXPECT_EQ(push_body(device, std::string(push_text_max, 'x'), random()).value().size(), 4'096U);
    auto const longer = push_body(device, std::string(push_text_max + 1, 'x'), random());
    ASSERT_FALSE(longer);
    EXPECT_EQ(longer.error().code, Code::too_large);
}

TEST(WebPush, Body_SecretIsNoKey_IsAnErrorThatMayBeTriedAgain) {
    auto const body = push_body(push_device(row()).value(), "x", {});
    ASSERT_FALSE(body);
    EXPECT_EQ(body.error().code, Code::internal);
}

TEST(WebPush, DeviceWithWrongKeys_IsRefused) {
    EXPECT_TRUE(push_device(row()));
    auto changed = row();
    changed.p256dh.back() = changed.p256dh.back() == 'A' ? 'E' : 'A';
    EXPECT_FALSE(push_device(changed)) << "not a point of the curve";
    changed = row();
    changed.auth = "BTBZMqHH6r4Tts7J_aSI";
    EXPECT_FALSE(push_device(changed)) << "15 bytes";
    changed = row();
    changed.auth = "not base64url!";
    EXPECT_FALSE(push_device(changed));
}

// The parts of a JWT in RFC 8292, section 2.4; its signature differs each time.
TEST(WebPush, Vapid_HasTheStructureOfRfc8292) {
    Time const now = from_ms(1'453'341'205'000);
    std::string const value = vapid(sender(), row().endpoint, now);
    ASSERT_TRUE(value.starts_with("vapid t=")) << value;
    auto const first = value.find('.');
    auto const second = value.find('.', first + 1);
    auto const comma = value.find(", k=");
    ASSERT_NE(comma, std::string::npos) << value;
    EXPECT_EQ(parse_base64url(value.substr(8, first - 8)).value(),
              R"({"typ":"JWT","alg":"ES256"})");
    EXPECT_EQ(parse_base64url(value.substr(first + 1, second - first - 1)).value(),
              R"({"aud":"https://push.example.net","exp":1453384405,)"
              R"("sub":"mailto:push@example.com"})");
    EXPECT_EQ(parse_base64url(value.substr(second + 1, comma - second - 1)).value().size(), 64U);
    EXPECT_EQ(value.substr(comma + 4), base64url(p256_public(secret).value()));
}

TEST(WebPush, Vapid_DefaultPort_IsNotInTheAudience) {
    auto const audience = [](std::string_view endpoint) {
        std::string const value = vapid(sender(""), endpoint, from_ms(0));
        auto const first = value.find('.');
        auto const claims = value.substr(first + 1, value.find('.', first + 1) - first - 1);
        return parse_base64url(claims).value();
    };
    EXPECT_EQ(audience("https://p.example.net:443/x"),
              R"({"aud":"https://p.example.net","exp":43200})");
    EXPECT_EQ(audience("https://p.example.net:8443/x"),
              R"({"aud":"https://p.example.net:8443","exp":43200})");
}

TEST(WebPush, VapidToken_IsUsedForAnHourAndOneService) {
    VapidTokens tokens(sender());
    Time const now = from_ms(100LL * 86'400'000);
    std::string const first = tokens.of("https://a.example.net/1", now);
    EXPECT_EQ(tokens.of("https://a.example.net/2", now + Duration(3'599'000)), first);
    EXPECT_NE(tokens.of("https://b.example.net/1", now), first);
    EXPECT_NE(tokens.of("https://a.example.net/1", now - Duration(1)), first) << "a clock set back";
    std::string const second = tokens.of("https://a.example.net/1", now);
    EXPECT_NE(tokens.of("https://a.example.net/1", now + Duration(3'600'000)), second);
}

Notification question() {
    Notification out{.event = "gate_asked",
                     .reason = "approval",
                     .pending = "pnd_AAAAAAAAAAAAAAAAAAAAAA_2_1_x",
                     .session = "ses_AAAAAAAAAAAAAAAAAAAAAA"};
    out.agent = "ops";
    out.tool = "deploy";
    out.question = "Deploy \"shop\"?";
    out.arguments = R"({"password":"s3cret"})";
    return out;
}

TEST(WebPush, Question_SaysWhatWaitsAndNoArguments) {
    auto it = question();
    it.deadline = from_ms(3'600'000);
    auto const made = push_message(it, from_ms(0));
    EXPECT_EQ(made.text,
              R"({"type":"call","pendingID":"pnd_AAAAAAAAAAAAAAAAAAAAAA_2_1_x",)"
              R"("headline":"Approval wanted","settled":false,"question":"Deploy \"shop\"?",)"
              R"("tool":"deploy","agentID":"ops","deadline":3600000,)"
              R"("open":"/?open=pnd_AAAAAAAAAAAAAAAAAAAAAA_2_1_x"})");
    EXPECT_EQ(made.urgency, "high");
    EXPECT_EQ(made.ttl, Duration(3'600'000));
    EXPECT_EQ(made.topic.size(), 32U);
}

TEST(WebPush, Outcome_HasTheTopicOfItsQuestion) {
    auto it = question();
    auto const question = push_message(it, from_ms(0));
    it.outcome = "Approved by bob";
    auto const outcome = push_message(it, from_ms(0));
    EXPECT_EQ(outcome.topic, question.topic);
    EXPECT_EQ(outcome.urgency, "normal");
    EXPECT_TRUE(outcome.text.contains(R"("headline":"Approved by bob","settled":true)"));
    it.pending += "y";
    EXPECT_NE(push_message(it, from_ms(0)).topic, question.topic);
}

TEST(WebPush, Ttl_EndsWithTheDeadlineWithinTheLimits) {
    auto it = question();
    EXPECT_EQ(push_message(it, from_ms(0)).ttl, Duration(7LL * 86'400'000)) << "no deadline";
    it.deadline = from_ms(10);
    EXPECT_EQ(push_message(it, from_ms(9)).ttl, Duration(60'000)) << "at least a minute";
    it.deadline = from_ms(400LL * 86'400'000);
    EXPECT_EQ(push_message(it, from_ms(9)).ttl, Duration(28LL * 86'400'000)) << "four weeks";
}

TEST(WebPush, LongestTexts_FitIntoOneMessage) {
    auto it = question();
    it.question = std::string(question_shown, '"');
    it.tool = std::string(200, '"');
    it.outcome = std::string(400, '"');
    it.agent = std::string(64, 'a');
    EXPECT_LE(push_message(it, from_ms(0)).text.size(), push_text_max);
}

TEST(WebPush, Request_HasTheHeadersOfRfc8030) {
    auto const made = push_request("vapid t=a, k=b", push_device(row()).value(),
                                   push_message(question(), from_ms(0)), random());
    ASSERT_TRUE(made);
    EXPECT_EQ(made->method, "POST");
    EXPECT_EQ(made->url, row().endpoint);
    EXPECT_EQ(header_of(*made, "TTL"), "604800");
    EXPECT_EQ(header_of(*made, "Urgency"), "high");
    EXPECT_EQ(header_of(*made, "Topic").size(), 32U);
    EXPECT_EQ(header_of(*made, "Content-Encoding"), "aes128gcm");
    EXPECT_EQ(header_of(*made, "Authorization"), "vapid t=a, k=b");
}

TEST(WebPush, Answers_AreTakenGoneRefusedOrTriedAgain) {
    EXPECT_TRUE(push_reply(201).taken);
    EXPECT_TRUE(push_reply(404).gone);
    EXPECT_TRUE(push_reply(410).gone);
    EXPECT_FALSE(push_reply(429).gone);
    EXPECT_FALSE(push_reply(429).permanent);
    EXPECT_FALSE(push_reply(503).permanent);
    EXPECT_TRUE(push_reply(413).permanent);
    EXPECT_EQ(push_reply(413).why, "the service answered 413: the message is too large");
    EXPECT_FALSE(push_reply(403).permanent) << "the key file may be put back";
    EXPECT_EQ(push_reply(403).why,
              "the service answered 403: it refuses the server's key (push.key)");
}

}  // namespace
}  // namespace dormouse::webhook
