#include "oidc/provider.h"
#include "oidc/testing/tokens.h"

#include <gtest/gtest.h>

#include <map>

namespace dormouse::oidc {
namespace {

using namespace testing;

constexpr Time start = from_ms(1'800'000'000'000);

struct FakeClock final : port::Clock {
    Duration passed{};
    [[nodiscard]] Time now() const override { return start + passed; }
    [[nodiscard]] Duration monotonic() const override { return passed; }
};

// Answers requests when the test says so.
struct FakeClient final : port::HttpClient {
    std::vector<port::HttpRequest> sent;
    std::vector<port::HttpCallbacks> callbacks;

    port::HttpId start(port::HttpRequest request, port::HttpCallbacks its) override {
        sent.push_back(std::move(request));
        callbacks.push_back(std::move(its));
        return sent.size();
    }
    void cancel(port::HttpId /*id*/) override {}

    void answer(std::uint16_t status, std::string const& body) {
        auto its = std::move(callbacks.back());
        its.head({status, {}});
        its.data(body);
        its.done(std::nullopt);
    }
    void fail() {
        auto its = std::move(callbacks.back());
        its.done(port::HttpFailure{port::HttpFailure::Kind::no_route, "refused", false});
    }
};

class ProviderTest : public ::testing::Test {
protected:
    std::string document() const {
        return R"({"issuer":"https://id.test","authorization_endpoint":"https://id.test/auth",)"
               R"("token_endpoint":"https://id.test/token","jwks_uri":"https://id.test/keys")" +
               more_ + "}";
    }
    std::string id_token(std::string const& kid) const {
        return token(key_, R"({"alg":"ES256","kid":")" + kid + "\"}",
                     R"({"iss":"https://id.test","aud":"me","sub":"a","exp":1900000000,)"
                     R"("iat":1800000000,"nonce":")" +
                         flow_.nonce + "\"}");
    }
    std::string tokens(std::string const& kid) const {
        return R"({"access_token":"x","token_type":"Bearer","id_token":")" + id_token(kid) + "\"}";
    }
    void finish(std::string issuer = "") {
        provider_.finish(flow_, {"code-1", std::move(issuer), "https://me.test/back"},
                         [this](Answer<Claims> got) { got_ = std::move(got); });
    }
    [[nodiscard]] std::string failure() const { return got_ && !*got_ ? got_->error().why : ""; }
    [[nodiscard]] bool signed_in() const { return got_ && *got_; }

    std::string more_;
    SigningKey key_ = SigningKey::p256();
    FakeClock clock_;
    FakeClient client_;
    Provider provider_{{"https://id.test", "me", "s:1"}, client_, clock_};
    Flow flow_ = Flows("key").begin({}, "/", start);
    std::optional<Answer<Claims>> got_;
};

TEST_F(ProviderTest, Begin_SendsTheBrowserWithStateNonceAndChallenge) {
    std::string url;
    provider_.begin(flow_, "https://me.test/back", [&](Answer<std::string> got) { url = *got; });
    EXPECT_EQ(client_.sent[0].url, "https://id.test/.well-known/openid-configuration");
    EXPECT_EQ(client_.sent[0].redirects_max, 0U);
    client_.answer(200, document());
    EXPECT_EQ(url,
              "https://id.test/auth?response_type=code&client_id=me&redirect_uri="
              "https%3A%2F%2Fme.test%2Fback&scope=openid&state=" +
                  flow_.state + "&nonce=" + flow_.nonce + "&code_challenge=" + flow_.challenge +
                  "&code_challenge_method=S256");
    EXPECT_EQ(url.find(flow_.verifier), std::string::npos);
}

TEST_F(ProviderTest, ManyAtOnce_ShareOneRequest) {
    int done = 0;
    for (int n = 0; n < 5; ++n)
        provider_.begin(flow_, "https://me.test/back",
                        [&](auto const& got) { done += got ? 1 : 0; });
    ASSERT_EQ(client_.sent.size(), 1U);
    client_.answer(200, document());
    EXPECT_EQ(done, 5);
    provider_.begin(flow_, "https://me.test/back", [&](auto const&) { ++done; });
    EXPECT_EQ(done, 6);
    clock_.passed += Duration(3'600'000);
    provider_.begin(flow_, "https://me.test/back", [](auto const&) {});
    EXPECT_EQ(client_.sent.size(), 2U);
}

TEST_F(ProviderTest, Finish_SendsVerifierAndSecretOnce) {
    finish();
    client_.answer(200, document());
    ASSERT_EQ(client_.sent.size(), 2U);
    port::HttpRequest const& request = client_.sent[1];
    EXPECT_EQ(request.url, "https://id.test/token");
    EXPECT_EQ(request.body,
              "grant_type=authorization_code&code=code-1&redirect_uri=https%3A%2F%2F"
              "me.test%2Fback&code_verifier=" +
                  flow_.verifier);
    EXPECT_TRUE(request.send_once);
    EXPECT_EQ(request.headers[1].value, "Basic bWU6cyUzQTE=");  // me:s%3A1
    client_.answer(200, tokens("e1"));
    client_.answer(200, jwks(jwk(key_, true, "e1")));
    ASSERT_TRUE(signed_in()) << failure();
    EXPECT_EQ((*got_)->subject, "a");
}

TEST_F(ProviderTest, SecretInTheBody_WhereTheProviderWantsIt) {
    more_ = R"(,"token_endpoint_auth_methods_supported":["client_secret_post"])";
    finish();
    client_.answer(200, document());
    EXPECT_TRUE(client_.sent[1].body.ends_with("&client_id=me&client_secret=s%3A1"));
    EXPECT_EQ(client_.sent[1].headers.size(), 2U);
}

TEST_F(ProviderTest, UnknownKey_FetchesTheKeysAgainOnceAMinute) {
    finish();
    client_.answer(200, document());
    client_.answer(200, tokens("e1"));
    client_.answer(200, jwks(jwk(key_, true, "e1")));
    EXPECT_TRUE(signed_in());
    finish();
    client_.answer(200, tokens("e2"));  // the keys were fetched just now
    EXPECT_EQ(failure(), "it is signed with a key that the provider does not publish");
    ASSERT_EQ(client_.sent.size(), 4U);
    clock_.passed += Duration(60'000);
    finish();
    client_.answer(200, tokens("e2"));
    ASSERT_EQ(client_.sent.size(), 6U);
    EXPECT_EQ(client_.sent[5].url, "https://id.test/keys");
    client_.answer(200, jwks(jwk(key_, true, "e2")));
    EXPECT_TRUE(signed_in()) << failure();
    finish();
    client_.answer(200, tokens("e3"));
    EXPECT_EQ(client_.sent.size(), 7U);
    EXPECT_FALSE(signed_in());
}

TEST_F(ProviderTest, AnotherIssuerInTheAnswer_IsRefusedBeforeTheCodeIsSent) {
    finish("https://evil.test");
    client_.answer(200, document());
    EXPECT_EQ(failure(), "the answer is of another issuer (iss)");
    EXPECT_EQ(client_.sent.size(), 1U);
}

TEST_F(ProviderTest, MissingIssuer_IsRefusedIfTheProviderSendsIt) {
    more_ = R"(,"authorization_response_iss_parameter_supported":true)";
    finish();
    client_.answer(200, document());
    EXPECT_EQ(failure(), "the answer is of another issuer (iss)");
    finish("https://id.test");
    EXPECT_EQ(client_.sent.size(), 2U);
}

TEST_F(ProviderTest, Errors_SayWhoseTheyAre) {
    using Kind = Failure::Kind;
    finish();
    client_.fail();
    EXPECT_EQ(got_->error().kind, Kind::unreachable);
    finish();
    client_.answer(302, "");
    EXPECT_EQ(failure(), "the discovery document was answered with status 302");
    finish();
    client_.answer(200, document());
    std::size_t const exchanges = client_.sent.size();
    for (auto const& [status, body, kind] :
         {std::tuple{400, R"({"error":"invalid_grant"})", Kind::code},
          {401, R"({"error":"invalid_client","error_description":"secret"})", Kind::settings},
          {500, "oops", Kind::unreachable},
          {400, R"({"error":"<script>"})", Kind::unreachable},
          {200, "{}", Kind::token},
          {200, R"({"id_token":7})", Kind::token},
          {200, "<html>", Kind::token}}) {
        client_.answer(static_cast<std::uint16_t>(status), body);
        ASSERT_FALSE(signed_in());
        EXPECT_EQ(got_->error().kind, kind) << body;
        EXPECT_EQ(failure().find("secret"), std::string::npos);
        finish();
    }
    EXPECT_EQ(client_.sent.size(), exchanges + 7);
}

}  // namespace
}  // namespace dormouse::oidc
