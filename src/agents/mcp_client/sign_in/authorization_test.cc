#include "mcp_client/sign_in/authorization.h"

#include <gtest/gtest.h>

namespace dormouse::mcp_client {
namespace {

constexpr auto authorizer = "https://id.example";

std::expected<Authorizer, std::string> read(std::string const& more) {
    return read_authorizer(json::View(R"({"issuer":"https://id.example","token_endpoint":)"
                                      R"("https://id.example/token")" +
                                      more + "}"),
                           authorizer);
}

TEST(McpAuthorization, Challenge_SaysWhatIsMissing) {
    auto const read =
        read_challenge(R"(Bearer error="insufficient_scope", scope="read write", realm="x")");
    EXPECT_EQ(read.error, "insufficient_scope");
    EXPECT_EQ(read.scope, "read write");
    EXPECT_EQ(read_challenge("Bearer error=invalid_token, x=1").error, "invalid_token");
    EXPECT_EQ(read_challenge(R"(Bearer myerror="a")").error, "");
    EXPECT_EQ(
        read_challenge("Bearer scope=\"" + std::string(scope_bytes_max + 1, 'x') + "\"").scope, "");
}

TEST(McpAuthorization, Metadata_WithoutPkceOrTls_IsRefused) {
    std::string const pkce = R"(,"code_challenge_methods_supported":["plain","S256"])";
    std::string const place = R"(,"authorization_endpoint":"https://id.example/go?x=1")";
    auto const whole = read(pkce + place);
    ASSERT_TRUE(whole) << whole.error();
    EXPECT_EQ(authorization_url(*whole, "me", "https://mcp.example/mcp", "a b",
                                "https://me.example/back", {"s", "c"}),
              "https://id.example/go?x=1&response_type=code&client_id=me&redirect_uri=https%3A%2F%"
              "2Fme.example%2Fback&state=s&code_challenge=c&code_challenge_method=S256&resource="
              "https%3A%2F%2Fmcp.example%2Fmcp&scope=a%20b");
    EXPECT_TRUE(read(place).error().contains("PKCE"));
    EXPECT_TRUE(read(pkce).error().contains("authorization_endpoint"));
    EXPECT_TRUE(read(pkce + R"(,"authorization_endpoint":"http://id.example/go")")
                    .error()
                    .contains("https"));
    EXPECT_TRUE(read(pkce + place + R"(,"registration_endpoint":"ftp://id.example")")
                    .error()
                    .contains("registration_endpoint"));
}

TEST(McpAuthorization, Resource_NamesItsIssuer) {
    json::View const metadata(R"({"resource":"https://mcp.example/mcp","authorization_servers":)"
                              R"(["https://id.example","https://other.example"]})");
    EXPECT_EQ(read_resource(metadata, "https://mcp.example/mcp", ""), authorizer);
    EXPECT_EQ(read_resource(metadata, "https://mcp.example/mcp", "https://other.example"),
              "https://other.example");
    EXPECT_FALSE(read_resource(metadata, "https://mcp.example/mcp", "https://evil.example"));
    EXPECT_FALSE(read_resource(metadata, "https://evil.example/mcp", ""));
    EXPECT_FALSE(read_resource(json::View("{}"), "https://mcp.example/mcp", ""));
}

TEST(McpAuthorization, Tokens_KeepTheRefreshTokenUnlessItIsReplaced) {
    Grant grant{.resource = "https://mcp.example/mcp",
                .issuer = authorizer,
                .client_id = "me",
                .refresh_token = "r1"};
    Time const now = from_ms(1'000);
    ASSERT_TRUE(read_tokens(
        json::View(R"({"access_token":"a1","token_type":"bearer","expires_in":60})"), now, grant));
    EXPECT_EQ(grant.refresh_token, "r1");
    EXPECT_EQ(grant.ends, from_ms(61'000));
    ASSERT_TRUE(read_tokens(json::View(R"({"access_token":"a2","token_type":"Bearer",)"
                                       R"("refresh_token":"r2","scope":"read"})"),
                            now, grant));
    EXPECT_EQ(grant.refresh_token, "r2");
    EXPECT_EQ(grant.ends, std::nullopt);
    EXPECT_EQ(read_grant(json::View(written(grant))), grant);
    auto const refused = read_tokens(json::View(R"({"error":"invalid_grant"})"), now, grant);
    EXPECT_EQ(refused.error(), "the issuer gave no token: invalid_grant");
    EXPECT_TRUE(is_over(json::View(R"({"error":"invalid_grant"})")));
    EXPECT_FALSE(is_over(json::View(R"({"error":"temporarily_unavailable"})")));
}

TEST(McpAuthorization, SecretOfAConfiguredClient_IsNotStored) {
    Grant grant{.resource = "https://mcp.example/mcp",
                .issuer = authorizer,
                .client_id = "me",
                .client_secret = "hush"};
    EXPECT_EQ(read_grant(json::View(written(grant)))->client_secret, "");
    grant.redirect_uri = "https://dormouse.example/callback";
    EXPECT_EQ(read_grant(json::View(written(grant)))->client_secret, "hush");
}

TEST(McpAuthorization, Scopes_AreJoinedOnce) {
    EXPECT_EQ(joined_scopes("a b", "b  c"), "a b c");
    EXPECT_EQ(joined_scopes("", ""), "");
}

}  // namespace
}  // namespace dormouse::mcp_client
