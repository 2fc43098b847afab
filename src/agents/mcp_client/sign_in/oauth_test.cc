#include "mcp_client/sign_in/oauth.h"

#include "mcp_client/sign_in/token_source.h"
#include "mcp_client/testing/connection_fixture.h"

namespace dormouse::mcp_client {
namespace {

using testing::ConnectionTest;
using testing::tools_a;

constexpr auto resource = "https://mcp.example/a/mcp";
constexpr auto issuer = "https://id.example/t";

std::string resource_metadata(std::string const& named = resource, std::string const& by = issuer) {
    return R"({"resource":")" + named + R"(","authorization_servers":["https://x.example",")" + by +
           "\"]}";
}

std::string issuer_metadata(std::string const& more = "") {
    return R"({"issuer":"https://id.example/t","token_endpoint":"https://id.example/token")" +
           more + "}";
}

TEST(McpOAuth, Addresses_OfMetadata_AreThoseOfTheirRfcs) {
    using List = std::vector<std::string>;
    std::string const known = "https://mcp.example/.well-known/oauth-protected-resource";
    EXPECT_EQ(resource_metadata_urls(resource, "Bearer"), (List{known + "/a/mcp", known}));
    EXPECT_EQ(resource_metadata_urls("https://mcp.example/", ""), List{known});
    EXPECT_EQ(resource_metadata_urls(
                  resource, R"(Bearer error="x", resource_metadata="https://mcp.example/m")"),
              (List{"https://mcp.example/m", known + "/a/mcp", known}));
    EXPECT_EQ(resource_metadata_urls(resource, R"(Bearer resource_metadata="http://127.0.0.1/m")"),
              (List{known + "/a/mcp", known}))
        << "another origin";
    EXPECT_EQ(issuer_metadata_urls(issuer),
              (List{"https://id.example/.well-known/oauth-authorization-server/t",
                    "https://id.example/.well-known/openid-configuration/t",
                    "https://id.example/t/.well-known/openid-configuration"}));
}

TEST(McpOAuth, Metadata_OfOthers_IsRefused) {
    auto const wrong = [](std::string const& text) {
        return wrong_resource(json::View(std::string_view(text)), resource, issuer);
    };
    EXPECT_EQ(wrong(resource_metadata()), "");
    EXPECT_EQ(wrong(resource_metadata("https://mcp.example/")), "");
    for (auto const* const other :
         {"https://mcp.example/a/m", "https://evil.example/a/mcp", "http://mcp.example/", "", "x"})
        EXPECT_TRUE(wrong(resource_metadata(other)).contains("of another resource")) << other;
    EXPECT_TRUE(
        wrong(resource_metadata(resource, "https://id.example")).contains("name the issuer"));
    EXPECT_NE(wrong("[]"), "");
    auto const refused = [](std::string const& text) {
        return read_issuer(json::View(std::string_view(text)), issuer).error();
    };
    EXPECT_TRUE(refused(R"({"issuer":"https://id.example"})").contains("of another issuer"));
    for (auto const* const end : {"http://id.example/token", "", "ftp://x"})
        EXPECT_TRUE(refused(R"({"issuer":"https://id.example/t","token_endpoint":")" +
                            std::string(end) + "\"}")
                        .contains("no token_endpoint"))
            << end;
}

TEST(McpOAuth, Token_OfOtherForms_IsRefused) {
    auto const refused = [](std::string const& text) {
        return read_token(json::View(std::string_view(text))).error();
    };
    EXPECT_EQ(refused(R"({"error":"invalid_client"})"), "the issuer gave no token: invalid_client");
    EXPECT_EQ(refused(R"({"access_token":"a\nb","token_type":"Bearer"})"),
              "the issuer gave no token");
    EXPECT_TRUE(refused(R"({"access_token":"a","token_type":"DPoP"})").contains("type Bearer"));
    EXPECT_EQ(refused(R"({"access_token":")" + std::string(token_bytes_max + 1, 'a') + "\"}"),
              "the issuer gave no token");
}

class McpTokens : public ConnectionTest {
protected:
    McpTokens()
        : ConnectionTest({.name = "s",
                          .url = resource,
                          .oauth = OAuthClient{issuer, "me", "s3cret", "a b"},
                          .message_max = 2'000}) {}
    void reply(std::uint16_t status, std::string const& body,
               std::vector<port::HttpHeader> headers = {}) {
        auto callbacks = std::move(http.all.back().callbacks);
        headers.push_back({"Content-Type", "application/json"});
        callbacks.head({status, std::move(headers)});
        callbacks.data(body);
        callbacks.done(std::nullopt);
        loop.run();
    }
    [[nodiscard]] port::HttpRequest const& last_request() { return http.all.back().request; }
    [[nodiscard]] std::string authorization() {
        for (auto const& each : last_request().headers)
            if (each.name == "Authorization") return each.value;
        return "";
    }
    void give(std::string const& token) {
        reply(200, resource_metadata());
        reply(200, issuer_metadata());
        reply(200, R"({"access_token":")" + token + R"(","token_type":"Bearer","expires_in":600})");
    }
    void connect_with(std::string const& token) {
        connection.start();
        reply(401, "");
        give(token);
        reply(200, R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}})");
        reply(200, R"({"jsonrpc":"2.0","id":2,"result":)" + std::string(tools_a) + "}");
    }
};

TEST_F(McpTokens, Challenge_FetchesATokenAndRepeatsTheRequest) {
    connection.start();
    EXPECT_EQ(authorization(), "");
    reply(401, "");
    EXPECT_TRUE(last_request().url.ends_with("/.well-known/oauth-protected-resource/a/mcp"));
    reply(404, "");
    reply(200, resource_metadata());
    reply(404, "<html>");
    reply(200, issuer_metadata());
    EXPECT_EQ(last_request().body,
              "grant_type=client_credentials&resource=https%3A%2F%2Fmcp.example%2Fa%2Fmcp"
              "&scope=a%20b");
    EXPECT_EQ(authorization(), "Basic bWU6czNjcmV0");
    EXPECT_EQ(last_request().redirects_max, 0U);
    reply(200, R"({"access_token":"t1","token_type":"bearer","expires_in":600})");
    EXPECT_EQ(authorization(), "Bearer t1");
    EXPECT_TRUE(last_request().body.contains(R"("method":"initialize")"));
    EXPECT_TRUE(warnings.empty());
}

TEST_F(McpTokens, Token_ThatEnds_IsReplacedBefore) {
    connect_with("t1");
    auto const stop = call();
    EXPECT_EQ(authorization(), "Bearer t1");
    clock.time += Duration(570'000);
    auto const again = call();
    EXPECT_TRUE(last_request().url.contains("oauth-protected-resource"));
    give("t2");
    EXPECT_EQ(authorization(), "Bearer t2");
    EXPECT_TRUE(last_request().body.contains("tools/call"));
}

TEST_F(McpTokens, RefusedToken_IsReplacedOnce) {
    connect_with("t1");
    auto const stop = call();
    reply(401, "");
    give("t2");
    EXPECT_EQ(authorization(), "Bearer t2");
    reply(401, "");
    EXPECT_TRUE(results.back().contains("it refused the request (401)")) << results.back();
}

TEST_F(McpTokens, CallThatIsStoppedMeanwhile_IsNotSent) {
    connect_with("t1");
    auto stop = call();
    reply(401, "");
    stop();
    give("t2");
    EXPECT_FALSE(last_request().body.contains("tools/call")) << last_request().body;
}

TEST_F(McpTokens, SecretInTheBody_IfTheIssuerWantsIt) {
    connection.start();
    reply(401, "");
    reply(200, resource_metadata());
    reply(200,
          issuer_metadata(R"(,"token_endpoint_auth_methods_supported":["client_secret_post"])"));
    EXPECT_EQ(authorization(), "");
    EXPECT_TRUE(last_request().body.ends_with("&client_id=me&client_secret=s3cret"));
}

TEST_F(McpTokens, Failures_AreNamedWithoutSecrets) {
    connection.start();
    reply(401, "");
    reply(200, resource_metadata(resource, "https://evil.example"));
    EXPECT_TRUE(warnings.back().contains("does not name the issuer https://id.example/t"));
    pass(Duration(1'000));
    reply(401, "");
    reply(200, resource_metadata());
    reply(200, issuer_metadata());
    reply(400, R"({"error":"invalid_client","error_description":"s3cret"})");
    EXPECT_TRUE(warnings.back().ends_with("the issuer gave no token: invalid_client"))
        << warnings.back();
    pass(Duration(2'000));
    reply(401, "");
    reply(200, resource_metadata());
    http.all.back().callbacks.done(
        port::HttpFailure{.kind = port::HttpFailure::Kind::too_large, .reason = "too large"});
    reply(302, "");
    reply(404, "");
    loop.run();
    EXPECT_TRUE(warnings.back().contains("its issuer https://id.example/t has no metadata"))
        << warnings.back();
    for (std::string const& line : warnings) EXPECT_FALSE(line.contains("s3cret")) << line;
}

}  // namespace
}  // namespace dormouse::mcp_client
