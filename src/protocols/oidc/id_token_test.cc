#include "oidc/id_token.h"
#include "oidc/testing/tokens.h"

#include "base/crypto/sha256.h"

#include <gtest/gtest.h>

namespace dormouse::oidc {
namespace {

using namespace testing;

constexpr std::int64_t now_s = 1'800'000'000;
constexpr std::string_view rs_header = R"({"alg":"RS256","kid":"r1"})";
constexpr std::string_view es_header = R"({"alg":"ES256","kid":"e1"})";

SigningKey const& rsa() {
    static SigningKey const key = SigningKey::rsa();
    return key;
}
SigningKey const& p256() {
    static SigningKey const key = SigningKey::p256();
    return key;
}

Keys both() { return *parse_keys(jwks(jwk(rsa(), false, "r1") + "," + jwk(p256(), true, "e1"))); }

Expected expected() {
    return {"https://id.example.org", "dormouse", "n-1", from_ms(now_s * 1'000)};
}

// The claims of a good token; `name`: replaced by `value`, or removed if that is empty.
std::string claims(std::string_view name = "", std::string_view value = "") {
    std::pair<std::string_view, std::string> const good[] = {{"iss", R"("https://id.example.org")"},
                                                             {"sub", R"("alice-1")"},
                                                             {"aud", R"("dormouse")"},
                                                             {"exp", std::to_string(now_s + 300)},
                                                             {"iat", std::to_string(now_s)},
                                                             {"nonce", R"("n-1")"}};
    std::string out;
    bool replaced = name.empty();
    for (auto const& [key, text] : good) {
        replaced |= key == name;
        std::string const shown(key == name ? std::string(value) : text);
        if (!shown.empty()) out += (out.empty() ? "\"" : ",\"") + std::string(key) + "\":" + shown;
    }
    if (!replaced) out += ",\"" + std::string(name) + "\":" + std::string(value);
    return "{" + out + "}";
}

std::string refusal(std::string const& token, Keys const& keys = both()) {
    auto const read = verify_id_token(token, keys, expected());
    return read ? "accepted" : read.error().why;
}

std::string with(std::string_view name, std::string_view value) {
    return refusal(token(p256(), es_header, claims(name, value)));
}

TEST(IdToken, GoodToken_GivesSubjectAndClaims) {
    for (std::string const& good :
         {token(rsa(), rs_header, claims()), token(p256(), es_header, claims())}) {
        auto const read = verify_id_token(good, both(), expected());
        ASSERT_TRUE(read) << read.error().why;
        EXPECT_EQ(read->subject, "alice-1");
        EXPECT_EQ(read->all.text(), claims());
    }
}

TEST(IdToken, EachClaimWrongOrAbsent_IsRefused) {
    for (std::string_view const name : {"iss", "sub", "aud", "exp", "iat", "nonce"}) {
        EXPECT_NE(with(name, ""), "accepted") << name;
        for (std::string_view const value :
             {"null", "7", "\"\"", "[]", "{}", "\"other\"", "true"}) {
            bool const fits = (name == "sub" && value == "\"other\"") ||
                              (name == "iat" && value == "7");  // old, and not expired
            EXPECT_EQ(with(name, value) == "accepted", fits) << name << value;
        }
    }
    EXPECT_EQ(with("iss", R"("https://id.example.org/")"), "it is of another issuer (iss)");
    EXPECT_EQ(with("aud", R"("dormouse2")"), "it is for another client (aud)");
    EXPECT_EQ(with("nonce", R"("n-2")"), "it is for another sign-in (nonce)");
    EXPECT_EQ(with("sub", "\"" + std::string(256, 'x') + "\""),
              "its subject (sub) must have 1 to 255 bytes");
}

TEST(IdToken, SeveralAudiences_NeedTheAuthorizedParty) {
    EXPECT_EQ(with("aud", R"(["dormouse"])"), "accepted");
    EXPECT_EQ(with("aud", R"(["x","dormouse"])"), "it is for several clients and has no azp");
    auto const sent = [](std::string const& aud, std::string const& azp) {
        std::string all = claims("aud", aud);
        all.insert(1, "\"azp\":" + azp + ",");
        return refusal(token(p256(), es_header, all));
    };
    EXPECT_EQ(sent(R"(["x","dormouse"])", R"("dormouse")"), "accepted");
    EXPECT_EQ(sent(R"("dormouse")", R"("dormouse")"), "accepted");
    EXPECT_EQ(sent(R"("dormouse")", R"("x")"), "it was made for another client (azp)");
    EXPECT_EQ(sent(R"("dormouse")", "null"), "it was made for another client (azp)");
}

TEST(IdToken, Times_HaveALeewayOfAMinute) {
    auto const at = [](std::int64_t distance) { return std::to_string(now_s + distance); };
    EXPECT_EQ(with("exp", at(-59)), "accepted");
    EXPECT_EQ(with("exp", at(-60)), "it has expired (exp); compare the clocks");
    EXPECT_EQ(with("iat", at(60)), "accepted");
    EXPECT_EQ(with("iat", at(61)), "it is from the future (iat); compare the clocks");
    EXPECT_EQ(with("exp", at(300) + ".5"), "accepted");
    EXPECT_EQ(with("exp", "1e300"), "it has no expiry (exp)");
    EXPECT_EQ(with("exp", "-1"), "it has no expiry (exp)");
    EXPECT_EQ(with("exp", "\"" + at(300) + "\""), "it has no expiry (exp)");
    EXPECT_EQ(with("nbf", at(60)), "accepted");
    EXPECT_EQ(with("nbf", at(61)), "it is not valid yet (nbf); compare the clocks");
    EXPECT_EQ(with("nbf", "null"), "it is not valid yet (nbf); compare the clocks");
}

TEST(IdToken, OtherAlgorithms_AreRefused) {
    std::string const body = encoded(claims());
    for (std::string_view const name : {"none", "HS256", "HS512", "RS512", "PS256", "rs256", ""}) {
        std::string const header = R"({"alg":")" + std::string(name) + R"(","kid":"r1"})";
        EXPECT_TRUE(refusal(token(rsa(), header, claims())).starts_with("its algorithm is"))
            << name;
        EXPECT_EQ(refusal(encoded(header) + "." + body + "."), "it is not a signed JSON Web Token");
    }
    EXPECT_TRUE(refusal(token(rsa(), R"({"kid":"r1"})", claims())).starts_with("its algorithm is"));
    // HS256 with the public key as its secret.
    std::string const text = encoded(R"({"alg":"HS256","kid":"r1"})") + "." + body;
    std::string const mac = base64url(hmac_sha256(rsa().number("n"), text));
    EXPECT_TRUE(refusal(text + "." + mac).starts_with("its algorithm is \"HS256\""));
}

TEST(IdToken, AlgorithmOfAnotherKey_IsRefused) {
    EXPECT_NE(refusal(token(p256(), R"({"alg":"RS256","kid":"e1"})", claims())), "accepted");
    EXPECT_NE(refusal(token(p256(), R"({"alg":"RS256","kid":"r1"})", claims())), "accepted");
    EXPECT_NE(refusal(token(rsa(), R"({"alg":"ES256","kid":"e1"})", claims())), "accepted");
}

TEST(IdToken, UnknownKey_IsReportedAsSuch) {
    std::string const other = token(p256(), R"({"alg":"ES256","kid":"e2"})", claims());
    auto const read = verify_id_token(other, both(), expected());
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().unknown_key);
    auto const wrong =
        verify_id_token(token(SigningKey::p256(), es_header, claims()), both(), expected());
    ASSERT_FALSE(wrong);
    EXPECT_FALSE(wrong.error().unknown_key);
    EXPECT_EQ(wrong.error().why, "its signature is wrong");
}

TEST(IdToken, WithoutKeyId_TheOnlyKeyIsUsed) {
    std::string const unnamed = token(p256(), R"({"alg":"ES256"})", claims());
    EXPECT_EQ(refusal(unnamed), "accepted");
    Keys const two =
        *parse_keys(jwks(jwk(p256(), true, "a") + "," + jwk(SigningKey::p256(), true, "b")));
    EXPECT_EQ(refusal(unnamed, two), "several keys of the provider fit it");
    EXPECT_EQ(refusal(unnamed, {}), "it is signed with a key that the provider does not publish");
}

TEST(IdToken, CriticalHeader_IsRefused) {
    std::string const header = R"({"alg":"ES256","kid":"e1","crit":["x"],"x":1})";
    EXPECT_EQ(refusal(token(p256(), header, claims())),
              "its header has \"crit\", which is not supported");
}

TEST(IdToken, TruncatedAtEachByte_IsRefused) {
    std::string const good = token(p256(), es_header, claims());
    for (std::size_t n = 0; n < good.size(); ++n)
        ASSERT_NE(refusal(good.substr(0, n)), "accepted") << n;
    EXPECT_EQ(refusal(good), "accepted");
}

TEST(IdToken, OtherForms_AreRefused) {
    std::string const good = token(p256(), es_header, claims());
    std::string const none = "it is not a signed JSON Web Token";
    for (std::string const& bad :
         {std::string(), std::string(".."), std::string("..."), good + ".", good + ".x", "." + good,
          good + "=", good + " ", "[]." + good, good + std::string(1, '\0')})
        EXPECT_EQ(refusal(bad), none) << bad;
    EXPECT_EQ(refusal(token(p256(), "[]", claims())), none);
    EXPECT_EQ(refusal(token(p256(), es_header, "[]")), none);
    EXPECT_EQ(refusal(token(p256(), es_header, R"({"sub":"a","sub":"b"})")), none);
}

TEST(IdToken, HugeToken_IsRefusedUnread) {
    std::string const claim = "\"" + std::string(id_token_bytes_max, 'x') + "\"";
    EXPECT_EQ(with("more", claim), "it must be at most 65536 bytes");
    EXPECT_EQ(with("more", "\"" + std::string(40'000, 'x') + "\""), "accepted");
}

TEST(Keys, OtherKeys_AreIgnored) {
    std::string const good = jwk(p256(), true, "e1");
    auto const count = [&](std::string const& more) {
        auto const keys = parse_keys(jwks(more + "," + good));
        return keys ? keys->size() : 1'000;
    };
    EXPECT_EQ(count(jwk(rsa(), false, "r1")), 2U);
    EXPECT_EQ(count(jwk(rsa(), false, "r1", R"("use":"sig","alg":"RS256",)")), 2U);
    EXPECT_EQ(count(jwk(rsa(), false, "r1", R"("use":"enc",)")), 1U);
    EXPECT_EQ(count(jwk(rsa(), false, "r1", R"("alg":"RS512",)")), 1U);
    EXPECT_EQ(count(jwk(SigningKey::rsa(1'024), false, "r1")), 1U);
    for (std::string const other :
         {R"({"kty":"oct","k":"AAAA"})", R"({"kty":"RSA"})", R"({"kty":"RSA","n":7,"e":"AQAB"})",
          R"({"kty":"EC","crv":"P-384","x":"AA","y":"AA"})", "7", "null", "{}",
          R"({"kty":"OKP","crv":"Ed25519","x":"AA"})"})
        EXPECT_EQ(count(other), 1U) << other;
}

TEST(Keys, OtherDocuments_AreRefused) {
    for (std::string_view const bad : {"", "x", "[]", "{}", "7", R"({"keys":{}})", R"({"keys":7})"})
        EXPECT_FALSE(parse_keys(bad)) << bad;
    std::string many = "{}";
    for (std::size_t n = 1; n < keys_max; ++n) many += ",{}";
    EXPECT_TRUE(parse_keys(jwks(many)));
    EXPECT_EQ(parse_keys(jwks(many + ",{}")).error(), "must have at most 100 keys");
}

}  // namespace
}  // namespace dormouse::oidc
