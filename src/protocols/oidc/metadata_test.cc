#include "oidc/metadata.h"

#include <gtest/gtest.h>

namespace dormouse::oidc {
namespace {

constexpr std::string_view issuer = "https://id.example.org/realm";

std::string document(std::string_view of, std::string_view tokens, std::string_view more = "") {
    return R"({"issuer":")" + std::string(of) +
           R"(","authorization_endpoint":"https://id.example.org/auth?p=1",)"
           R"("jwks_uri":"https://id.example.org/keys","token_endpoint":")" +
           std::string(tokens) + "\"" + std::string(more) + "}";
}

TEST(Metadata, DiscoveryUrl_HasOneSlash) {
    constexpr std::string_view url =
        "https://id.example.org/realm/.well-known/openid-configuration";
    EXPECT_EQ(discovery_url(issuer), url);
    EXPECT_EQ(discovery_url(std::string(issuer) + "/"), url);
}

TEST(Metadata, GoodDocument_IsRead) {
    auto const got = parse_metadata(document(issuer, "https://t.example.org/t"), issuer);
    ASSERT_TRUE(got) << got.error();
    EXPECT_EQ(got->authorization_endpoint, "https://id.example.org/auth?p=1");
    EXPECT_EQ(got->token_endpoint, "https://t.example.org/t");
    EXPECT_EQ(got->jwks_uri, "https://id.example.org/keys");
    EXPECT_FALSE(got->secret_in_body);
    EXPECT_FALSE(got->names_itself);
}

TEST(Metadata, ClientAuthentication_FollowsTheList) {
    auto const in_body = [](std::string const& methods) {
        auto const got =
            parse_metadata(document(issuer, "https://t.example.org/t",
                                    R"(,"token_endpoint_auth_methods_supported":)" + methods),
                           issuer);
        return got && got->secret_in_body;
    };
    EXPECT_TRUE(in_body(R"(["client_secret_post"])"));
    EXPECT_FALSE(in_body(R"(["client_secret_post","client_secret_basic"])"));
    EXPECT_FALSE(in_body("[]"));
    EXPECT_FALSE(in_body("7"));
}

TEST(Metadata, OtherIssuer_IsRefused) {
    for (std::string_view const other : {"https://id.example.org/realm/", "https://id.example.org",
                                         "http://id.example.org/realm", "", "https://evil.test"})
        EXPECT_FALSE(parse_metadata(document(other, "https://t.example.org/t"), issuer)) << other;
}

TEST(Metadata, EndpointsThatAreNotHttps_AreRefused) {
    for (std::string_view const bad :
         {"http://id.example.org/t", "http://127.0.0.1/t", "", "javascript:alert(1)", "/t",
          "https://user@id.example.org/t", "file:///etc/passwd"})
        EXPECT_FALSE(parse_metadata(document(issuer, bad), issuer)) << bad;
    constexpr std::string_view near = "http://127.0.0.1:3000";
    EXPECT_TRUE(parse_metadata(document(near, "http://127.0.0.1:3000/t"), near));
    EXPECT_FALSE(parse_metadata(document(near, "http://10.0.0.1/t"), near));
}

TEST(Metadata, OtherTexts_AreRefused) {
    for (std::string_view const bad : {"", "x", "[]", "7", "null", "{}", "<html>"})
        EXPECT_FALSE(parse_metadata(bad, issuer)) << bad;
}

TEST(Issuer, NotHttps_IsRefusedExceptOnThisMachine) {
    for (std::string_view const good :
         {"https://id.example.org", "https://id.example.org/", "https://id.example.org/a/b",
          "http://127.0.0.1:3000", "http://localhost:3000/x", "http://[::1]:3000"})
        EXPECT_EQ(wrong_issuer(good), "") << good;
    for (std::string_view const bad :
         {"http://id.example.org", "https://id.example.org?a=b", "id.example.org", ""})
        EXPECT_NE(wrong_issuer(bad), "") << bad;
}

}  // namespace
}  // namespace dormouse::oidc
