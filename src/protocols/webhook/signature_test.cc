#include "webhook/signature.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace dormouse::webhook {
namespace {

constexpr std::int64_t now_s = 1'795'290'000;
Time const now = from_ms(now_s * 1'000);
std::string const body = R"({"a":1})";
std::string const whsec = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
using Map = std::map<std::string, std::string, std::less<>>;

std::string verified(Kind kind, std::vector<std::string> const& secrets, Map const& headers,
                     std::string const& content = body, Time at = now) {
    auto const id = verify(
        kind, secrets,
        [&](std::string_view name) {
            auto const found = headers.find(name);
            return found == headers.end() ? std::string_view() : std::string_view(found->second);
        },
        content, at);
    if (id) return *id;
    return std::string(info(id.error().code).text) + std::string(id.error().extra.text());
}

Map standard(std::string const& signature, std::int64_t seconds = now_s) {
    return {{"webhook-id", "msg_1"},
            {"webhook-timestamp", std::to_string(seconds)},
            {"webhook-signature", signature}};
}

std::string sign(std::int64_t seconds = now_s, std::string const& secret = whsec) {
    return standard_signature(secret, "msg_1", seconds, body);
}

TEST(Signature, Standard_MatchesTheTestVector) {
    EXPECT_EQ(sign(), "v1,FcHnDgOgfhErwFMQqPzovPtvW2nqCkP3hiDQHGxd1cw=");
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard(sign())), "msg_1");
}

TEST(Signature, Standard_SeveralSecretsAndSignatures_AnyMatchIsValid) {
    EXPECT_EQ(verified(Kind::standard, {"new", whsec}, standard(sign())), "msg_1");
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard("v1a,xyz v1,AAAA " + sign())), "msg_1");
    std::string many;
    for (int i = 0; i < 32; ++i) many += "v1,AAAA ";
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard(many + sign())), "bad_signaturenull")
        << "only a limited number is checked";
}

TEST(Signature, Standard_SvixHeaderNames_AreAccepted) {
    Map const headers{{"svix-id", "msg_1"},
                      {"svix-timestamp", std::to_string(now_s)},
                      {"svix-signature", sign()}};
    EXPECT_EQ(verified(Kind::standard, {whsec}, headers), "msg_1");
}

TEST(Signature, Standard_TimeMayDifferByFiveMinutes) {
    for (std::int64_t const off : {-300, 300})
        EXPECT_EQ(verified(Kind::standard, {whsec}, standard(sign(now_s + off), now_s + off)),
                  "msg_1");
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard(sign(now_s - 301), now_s - 301)),
              R"(stale_signature{"skewMs":301000})");
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard(sign(now_s + 301), now_s + 301)),
              R"(stale_signature{"skewMs":-301000})");
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard("v1,AAAA", now_s - 301)),
              "bad_signaturenull")
        << "the age is reported only for a valid signature";
}

TEST(Signature, Standard_NeedsAllThreeHeaders) {
    for (char const* const name : {"webhook-id", "webhook-timestamp", "webhook-signature"}) {
        Map headers = standard(sign());
        headers.erase(name);
        EXPECT_EQ(verified(Kind::standard, {whsec}, headers), "bad_signaturenull") << name;
    }
    for (char const* const time : {"", "-5", "1e9", "17952900000000000000", "0x1", " 1"}) {
        Map headers = standard(sign());
        headers["webhook-timestamp"] = time;
        EXPECT_EQ(verified(Kind::standard, {whsec}, headers), "bad_signaturenull") << time;
    }
}

TEST(Signature, Standard_AnyMutation_IsRefused) {
    std::string const good = sign();
    std::vector<std::string> bad{"",
                                 "v1",
                                 "v1,",
                                 good.substr(3),
                                 good.substr(0, 20),
                                 good + "A",
                                 "v2" + good.substr(2),
                                 "," + good,
                                 good + "\t" + good};
    for (std::size_t i = 0; i < good.size(); ++i) {
        bad.push_back(good.substr(0, i));
        for (char const c : {'A', 'z', '=', '\0', ' '}) {
            if (good[i] == c) continue;
            bad.push_back(good);
            bad.back()[i] = c;
        }
    }
    std::mt19937 random(7);
    for (int i = 0; i < 2'000; ++i) {
        Sha256 digest{};
        for (auto& byte : digest) byte = static_cast<std::uint8_t>(random());
        bad.push_back("v1," + base64(digest));
    }
    for (std::string const& one : bad)
        EXPECT_EQ(verified(Kind::standard, {whsec}, standard(one)), "bad_signaturenull") << one;
    EXPECT_EQ(verified(Kind::standard, {whsec}, standard(good), body + " "), "bad_signaturenull");
}

TEST(Signature, EmptyOrNoSecret_NothingIsValid) {
    EXPECT_EQ(verified(Kind::standard, {}, standard(sign())), "bad_signaturenull");
    EXPECT_EQ(verified(Kind::standard, {""}, standard(sign(now_s, ""))), "bad_signaturenull");
    EXPECT_EQ(verified(Kind::hmac, {""}, {{"x-webhook-signature", plain_signature("", body)}}),
              "bad_signaturenull");
}

TEST(Signature, Hmac_Is64HexDigits) {
    std::string const good = plain_signature("s3cret", body);
    EXPECT_EQ(good.size(), 64U);
    std::string const id = digest_text(sha256(body));
    EXPECT_EQ(verified(Kind::hmac, {"s3cret"}, {{"x-webhook-signature", good}}), id);
    EXPECT_EQ(verified(Kind::hmac, {"s3cret"}, {{"x-webhook-signature", "sha256=" + good}}), id);
    EXPECT_EQ(
        verified(Kind::hmac, {"s3cret"}, {{"x-webhook-signature", good}, {"webhook-id", "d1"}}),
        "d1");
    for (std::string const& bad :
         {std::string(), good.substr(1), good + "0", "sha1=" + good, "sha256=sha256=" + good,
          "sha256=" + good.substr(0, 63) + (good.back() == '0' ? "1" : "0")})
        EXPECT_EQ(verified(Kind::hmac, {"s3cret"}, {{"x-webhook-signature", bad}}),
                  "bad_signaturenull")
            << bad;
}

TEST(Signature, Github_HasPrefixAndDeliveryId) {
    // The vector of GitHub's documentation.
    std::string const content = "Hello, World!";
    std::string const secret = "It's a Secret to Everybody";
    std::string const hex = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    Map const headers{{"x-hub-signature-256", "sha256=" + hex}, {"x-github-delivery", "72d3162e"}};
    EXPECT_EQ(verified(Kind::github, {secret}, headers, content), "72d3162e");
    EXPECT_EQ(verified(Kind::github, {secret}, {{"x-hub-signature-256", hex}}, content),
              "bad_signaturenull");
    EXPECT_EQ(verified(Kind::github, {secret}, {{"x-webhook-signature", hex}}, content),
              "bad_signaturenull");
}

TEST(Signature, GithubDeliveryId_Over256Bytes_IsRefused) {
    std::string const given = "sha256=" + plain_signature("s3cret", body);
    for (std::size_t const bytes : {std::size_t{256}, std::size_t{257}}) {
        std::string const id(bytes, 'd');
        Map const headers{{"x-hub-signature-256", given}, {"x-github-delivery", id}};
        std::string const answer = verified(Kind::github, {"s3cret"}, headers);
        bool const fits = bytes == 256;
        EXPECT_EQ(answer == id, fits) << answer;
        EXPECT_EQ(answer.starts_with("bad_signature"), !fits) << answer;
    }
}

TEST(Signature, Slack_CoversItsTime) {
    // The vector of Slack's documentation.
    std::string const content =
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id="
        "G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-"
        "collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%"
        "2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
        "803a0bc887a14d10d2c447fce8b6703c";
    Map headers{{"x-slack-request-timestamp", "1531420618"},
                {"x-slack-signature",
                 "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"}};
    std::vector<std::string> const secret{"8f742231b10e8888abcd99yyyzzz85a5"};
    EXPECT_TRUE(verified(Kind::slack, secret, headers, content, from_ms(1'531'420'618'000))
                    .starts_with("sha256:"));
    EXPECT_EQ(verified(Kind::slack, secret, headers, content, from_ms(1'531'421'000'000)),
              R"(stale_signature{"skewMs":382000})");
    headers["x-slack-request-timestamp"] = "1531420619";
    EXPECT_EQ(verified(Kind::slack, secret, headers, content, from_ms(1'531'420'618'000)),
              "bad_signaturenull");
}

TEST(Signature, Sign_EveryKind_IsAccepted) {
    for (Kind const kind : {Kind::standard, Kind::hmac, Kind::github, Kind::slack}) {
        for (std::string const& secret : {whsec, std::string("plain secret")}) {
            Map headers;
            for (auto const& [name, value] : webhook::sign(kind, secret, "msg_1", body, now))
                headers[lower_case(name)] = value;
            std::string const id = verified(kind, {"new", secret}, headers);
            EXPECT_TRUE(id == "msg_1" || (kind == Kind::slack && id.starts_with("sha256:"))) << id;
            EXPECT_TRUE(verified(kind, {"other"}, headers).starts_with("bad_signature"));
        }
    }
}

}  // namespace
}  // namespace dormouse::webhook
