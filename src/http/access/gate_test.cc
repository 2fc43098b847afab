#include "http/access/gate.h"

#include "runner/testing/world.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

class GateTest : public ::testing::Test {
protected:
    static HttpRequest request(std::vector<std::pair<std::string, std::string>> headers,
                               std::string path = "/api") {
        HttpRequest out;
        out.method = "POST";
        out.path = std::move(path);
        out.headers = std::move(headers);
        out.peer_address = "192.0.2.7";
        return out;
    }
    // Returns a request that is accepted, with one header changed or added.
    static HttpRequest good(std::string name = "x-none", std::string value = "",
                            std::string path = "/api") {
        std::vector<std::pair<std::string, std::string>> headers{
            {"host", "127.0.0.1:3676"}, {"authorization", "Bearer s3cret"}};
        std::erase_if(headers, [&](auto const& header) { return header.first == name; });
        headers.emplace_back(std::move(name), std::move(value));
        return request(std::move(headers), std::move(path));
    }
    std::string result_of(HttpRequest const& head) {
        auto const error = gate.refuse(head);
        return error ? std::string(info(error->code).text) : "in";
    }

    runner::testing::TestLoop loop;
    runner::testing::TestClock clock{loop};
    GateOptions options{{{"alice", "s3cret"}, {"bob", "other"}},
                        {"dm.example.org"},
                        {"https://page.example.org"},
                        3676,
                        10};
    Gate gate{options, clock};
};

TEST_F(GateTest, LoopbackNamesAndAllowedHosts_AreServed) {
    for (std::string const host : {"127.0.0.1:3676", "localhost:3676", "LOCALHOST:3676",
                                   "[::1]:3676", "dm.example.org", "DM.example.org"}) {
        EXPECT_EQ(result_of(good("host", host)), "in") << host;
    }
    for (std::string const host :
         {"", "127.0.0.1", "127.0.0.1:80", "evil.example.org", "localhost.evil.org:3676",
          "dm.example.org.evil.org", "127.0.0.2:3676"}) {
        EXPECT_EQ(result_of(good("host", host)), "wrong_host") << host;
    }
}

TEST_F(GateTest, ChangedOptions_AreUsedByTheNextRequest) {
    EXPECT_EQ(result_of(good("host", "new.example.org")), "wrong_host");
    EXPECT_EQ(result_of(good("origin", "https://new.example.org")), "origin_refused");
    gate.apply({.tokens = {},
                .allowed_hosts = {"NEW.example.org"},
                .allowed_origins = {"https://new.example.org"},
                .failed_auth_per_address_per_s = 1});
    EXPECT_EQ(result_of(good("host", "new.example.org")), "in") << "tokens stay";
    EXPECT_EQ(result_of(good("origin", "https://new.example.org")), "in");
    EXPECT_EQ(result_of(good("host", "127.0.0.1:3676")), "in") << "so does the port";
    EXPECT_EQ(result_of(good("host", "dm.example.org")), "wrong_host");
    EXPECT_EQ(result_of(good("origin", "https://page.example.org")), "origin_refused");
    EXPECT_EQ(result_of(good("authorization", "Bearer wrong")), "unauthenticated");
    EXPECT_EQ(result_of(good("authorization", "Bearer wrong")), "rate_limited");
}

TEST_F(GateTest, Port80_NameWithoutPort_IsServed) {
    gate.set_port(80);
    EXPECT_EQ(result_of(good("host", "localhost")), "in");
    EXPECT_EQ(result_of(good("host", "localhost:3676")), "wrong_host");
}

TEST_F(GateTest, OtherOrigin_IsRefused) {
    for (std::string const origin :
         {"http://127.0.0.1:3676", "http://localhost:3676", "https://page.example.org"}) {
        EXPECT_EQ(result_of(good("origin", origin)), "in") << origin;
    }
    for (std::string const origin :
         {"null", "https://evil.org", "http://localhost", "https://page.example.org.evil.org",
          "http://page.example.org", "https://page.example.org/"}) {
        EXPECT_EQ(result_of(good("origin", origin)), "origin_refused") << origin;
    }
}

TEST_F(GateTest, OwnOrigin_SchemeOfTheConnection_Taken) {
    HttpRequest over_tls = good("origin", "https://localhost:3676");
    EXPECT_EQ(result_of(over_tls), "origin_refused") << "plain HTTP has no https page";
    over_tls.secure = true;
    EXPECT_EQ(result_of(over_tls), "in");
    HttpRequest plain_page = good("origin", "http://localhost:3676");
    plain_page.secure = true;
    EXPECT_EQ(result_of(plain_page), "origin_refused");
}

class CookieTest : public GateTest {
protected:
    CookieTest() {
        for (std::string const name : {"alice", "mallory"}) {
            port::TokenRow row{.id = name, .kind = "cookie", .name = name, .role = "answer"};
            row.secret = sha256("dmc_" + name);
            gate.tokens().add(row);
        }
    }
    std::string who(std::string const& cookies, bool secure) const {
        HttpRequest head = good("authorization", "");
        std::erase_if(head.headers, [](auto const& one) { return one.first == "authorization"; });
        head.headers.emplace_back("cookie", cookies);
        head.secure = secure;
        auto const principal = gate.principal(head);
        return principal ? principal->row.name : "nobody";
    }
};

TEST_F(CookieTest, OverTls_OnlyThePrefixedCookieCounts) {
    EXPECT_EQ(who("__Host-dormouse=dmc_alice", true), "alice");
    EXPECT_EQ(who("dormouse=dmc_mallory; __Host-dormouse=dmc_alice", true), "alice");
    EXPECT_EQ(who("dormouse=dmc_mallory", true), "nobody");
    EXPECT_EQ(who("other=1; dormouse=dmc_alice", false), "alice");
    EXPECT_EQ(who("__Host-dormouse=dmc_alice", false), "nobody");
}

// With a bearer token the page has no form: POST would refuse it.
TEST_F(CookieTest, FormToken_IsForACookieOnly) {
    PendingId const pending{};
    EXPECT_EQ(gate.form_token(good(), pending), "");
    HttpRequest head = request({{"host", "127.0.0.1:3676"}, {"cookie", "dormouse=dmc_alice"}});
    EXPECT_NE(gate.form_token(head, pending), "");
    head.headers.back().second = "dormouse=dmc_nobody";
    EXPECT_EQ(gate.form_token(head, pending), "");
}

TEST_F(CookieTest, TwoDifferentCookies_NoneCounts) {
    EXPECT_EQ(who("dormouse=dmc_mallory; dormouse=dmc_alice", false), "nobody");
    EXPECT_EQ(who("dormouse=dmc_alice; dormouse=dmc_alice", false), "alice");
    EXPECT_EQ(who("__Host-dormouse=dmc_mallory; __Host-dormouse=dmc_alice", true), "nobody");
}

TEST_F(GateTest, Token_NamesTheActor) {
    EXPECT_EQ(result_of(good("authorization", "Bearer s3cret")), "in");
    EXPECT_EQ(result_of(good("authorization", "bearer other")), "in");
    EXPECT_EQ(gate.actor(good()), (session::Actor{session::ActorType::token, "alice"}));
    EXPECT_EQ(gate.actor(good("authorization", "BEARER other")).name, "bob");
    for (std::string const value :
         {"", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cre", "Bearer s3cret2",
          "Bearer  s3cret", "Bearer S3CRET"}) {
        EXPECT_EQ(result_of(good("authorization", value)), "unauthenticated") << value;
        loop.advance(Duration(1'000));
    }
    EXPECT_EQ(gate.actor(good("authorization", "")), session::Actor());
}

TEST_F(GateTest, Health_NeedsAllowedHostButNoToken) {
    for (std::string const path : {"/healthz", "/readyz"}) {
        EXPECT_EQ(result_of(good("authorization", "", path)), "in");
        EXPECT_EQ(result_of(request({{"host", "evil.org"}}, path)), "wrong_host");
    }
    EXPECT_EQ(result_of(good("authorization", "", "/healthz/")), "unauthenticated");
}

TEST_F(GateTest, Body_MustBeJson) {
    auto const with = [&](std::string const& type, std::string const& length) {
        HttpRequest head = good("content-type", type);
        head.headers.emplace_back("content-length", length);
        return result_of(head);
    };
    for (std::string const type :
         {"application/json", "application/json; charset=utf-8", "Application/JSON",
          "application/problem+json", "application/json ;x=1"}) {
        EXPECT_EQ(with(type, "2"), "in") << type;
    }
    for (std::string const type : {"", "text/plain", "application/x-www-form-urlencoded",
                                   "multipart/form-data", "application/jsonx", "text/json"}) {
        EXPECT_EQ(with(type, "2"), "unsupported_media_type") << type;
        EXPECT_EQ(with(type, "0"), "in") << type;
    }
    EXPECT_EQ(result_of(good("transfer-encoding", "chunked")), "unsupported_media_type");
}

TEST_F(GateTest, FailedTokens_CountedByAddressAndSecond) {
    HttpRequest const bad = good("authorization", "Bearer wrong");
    for (int i = 0; i < 10; ++i) EXPECT_EQ(result_of(bad), "unauthenticated");
    EXPECT_EQ(result_of(bad), "rate_limited");
    EXPECT_EQ(result_of(good()), "in");  // bad tokens do not affect a good one
    HttpRequest other = bad;
    other.peer_address = "192.0.2.8";
    EXPECT_EQ(result_of(other), "unauthenticated");
    auto const error = gate.refuse(bad);
    EXPECT_EQ(error->retry_after_ms, 1'000);
    loop.advance(Duration(1'000));
    EXPECT_EQ(result_of(bad), "unauthenticated");
}

TEST_F(GateTest, FailedTokens_OneNetworkOfIpv6_ShareACount) {
    HttpRequest bad = good("authorization", "Bearer wrong");
    for (int i = 0; i < 10; ++i) {
        bad.peer_address = "2001:db8:1:2::" + std::to_string(i + 1);
        EXPECT_EQ(result_of(bad), "unauthenticated");
    }
    bad.peer_address = "2001:db8:1:2:ffff:ffff:ffff:ffff";
    EXPECT_EQ(result_of(bad), "rate_limited");
    bad.peer_address = "2001:db8:1:3::1";
    EXPECT_EQ(result_of(bad), "unauthenticated");
}

TEST_F(GateTest, BadSignatures_OfOneAddress_Limited) {
    HttpRequest const bad = good();
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(gate.refuse_signature(bad, "github"));
        gate.count_bad_signature(bad, "github");
    }
    EXPECT_TRUE(gate.refuse_signature(bad, "github"));
    EXPECT_TRUE(gate.refuse_signature(bad, "another"));
    HttpRequest honest = bad;
    honest.peer_address = "192.0.2.8";
    EXPECT_FALSE(gate.refuse_signature(honest, "github"));
}

TEST_F(GateTest, BadSignatures_OfManyAddresses_SourceLimitedForThemOnly) {
    auto const of = [](int i) {
        HttpRequest one = good();
        one.peer_address = "192.0.2." + std::to_string(i);
        return one;
    };
    for (int i = 0; i < 100; ++i) gate.count_bad_signature(of(i), "github");
    EXPECT_TRUE(gate.refuse_signature(of(1), "github")) << "sent one, and the source is flooded";
    EXPECT_FALSE(gate.refuse_signature(of(1), "another"));
    EXPECT_FALSE(gate.refuse_signature(of(200), "github")) << "sent none";
}

class CapabilityGateTest : public GateTest {
protected:
    CapabilityGateTest() {
        options.capability_key = std::string(32, 'k');
        with_key.emplace(options, clock);
        pending.call = 3;
        pending.generation = 1;
        token = with_key->capabilities().token(pending);
    }
    static HttpRequest asks(std::string method, std::string path, std::string bearer = "",
                            std::string type = "application/json") {
        HttpRequest out = request({{"host", "127.0.0.1:3676"}}, std::move(path));
        out.method = std::move(method);
        if (!bearer.empty()) out.headers.emplace_back("authorization", "Bearer " + bearer);
        out.headers.emplace_back("content-length", "2");
        out.headers.emplace_back("content-type", std::move(type));
        return out;
    }
    std::string says(HttpRequest const& head) {
        auto const error = with_key->refuse(head);
        return error ? std::string(info(error->code).text) : "in";
    }
    std::optional<Gate> with_key;
    PendingId pending;
    std::string token;
};

TEST_F(CapabilityGateTest, InPath_NeedsNoOtherToken) {
    HttpRequest const head = asks("POST", "/c/" + token);
    EXPECT_EQ(says(head), "in");
    EXPECT_EQ(with_key->capability(head), pending);
    EXPECT_EQ(with_key->actor(head).type, session::ActorType::capability);
    EXPECT_EQ(says(asks("POST", "/c/" + token, "", "text/plain")), "unsupported_media_type");
}

TEST_F(CapabilityGateTest, AsToken_AllowsOutcomesAndProgressOnly) {
    for (std::string const path :
         {"/async-tool/result", "/async-tool/error", "/async-tool/progress"})
        EXPECT_EQ(says(asks("POST", path, token)), "in") << path;
    for (std::string const path :
         {"/async-tool/decision", "/async-tool/results", "/async-tool/pending", "/api/agents",
          "/api/sessions/x/prompt", "/async-tool/result/", "/"})
        EXPECT_EQ(says(asks("POST", path, token)), "forbidden") << path;
    EXPECT_EQ(says(asks("GET", "/async-tool/result", token)), "forbidden");
}

TEST_F(CapabilityGateTest, Invalid_IsNotFoundAndCounted) {
    EXPECT_EQ(says(asks("POST", "/c/" + token + "x")), "not_found");
    EXPECT_EQ(says(asks("POST", "/c/")), "not_found");
    EXPECT_EQ(says(asks("POST", "/async-tool/result", "cap_x")), "unauthenticated");
    EXPECT_EQ(result_of(asks("POST", "/c/" + token)), "not_found") << "a server without a key";
    for (int i = 0; i < 10; ++i) (void)says(asks("POST", "/c/guess"));
    EXPECT_EQ(says(asks("POST", "/c/guess")), "rate_limited");
    EXPECT_EQ(says(asks("POST", "/c/" + token)), "in");
}

}  // namespace
}  // namespace dormouse::http
