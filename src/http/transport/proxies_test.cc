#include "http/transport/proxies.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

HttpRequest from(std::string peer, std::vector<std::pair<std::string, std::string>> headers) {
    HttpRequest out;
    out.peer_address = std::move(peer);
    out.peer_is_loopback = out.peer_address == "127.0.0.1";
    out.headers = std::move(headers);
    return out;
}

std::string seen(Proxies const& proxies, std::string peer, std::string forwarded) {
    HttpRequest request = from(std::move(peer), {{"x-forwarded-for", std::move(forwarded)}});
    proxies.apply(request);
    return request.peer_address + (request.peer_is_loopback ? " here" : "");
}

TEST(Proxies, OnlyTrustedProxies_SetTheClientAddress) {
    Proxies const none({});
    Proxies const some({"127.0.0.1", "10.0.0.0/8", "fd00::/8"});
    EXPECT_EQ(seen(none, "127.0.0.1", "192.0.2.1"), "127.0.0.1 here");
    EXPECT_EQ(seen(some, "192.0.2.9", "127.0.0.1"), "192.0.2.9");
    EXPECT_EQ(seen(some, "127.0.0.1", "192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(seen(some, "10.1.2.3", "192.0.2.1, 10.9.9.9"), "192.0.2.1");
    EXPECT_EQ(seen(some, "fd00::1", "2001:db8::1"), "2001:db8::1");
    EXPECT_EQ(seen(some, "11.0.0.1", "192.0.2.1"), "11.0.0.1");
}

TEST(Proxies, ForwardedClient_CannotClaimAnotherAddress) {
    Proxies const some({"127.0.0.1"});
    EXPECT_EQ(seen(some, "127.0.0.1", "198.51.100.1, 192.0.2.1"), "192.0.2.1") << "the last hop";
    EXPECT_EQ(seen(some, "127.0.0.1", "127.0.0.1"), "127.0.0.1");
    for (std::string const odd : {"", ",", " , ,", "unknown", "192.0.2.1:80", "x, ', \"", "-"})
        EXPECT_EQ(seen(some, "127.0.0.1", odd), "127.0.0.1") << odd;
}

TEST(Proxies, TrustedProxy_SetsTheScheme) {
    Proxies const some({"127.0.0.1"});
    auto const secure = [&](std::string peer, std::string scheme) {
        HttpRequest request = from(std::move(peer), {{"x-forwarded-proto", std::move(scheme)}});
        some.apply(request);
        return request.secure;
    };
    EXPECT_TRUE(secure("127.0.0.1", "https"));
    EXPECT_FALSE(secure("127.0.0.1", "http"));
    EXPECT_FALSE(secure("127.0.0.1", "https, http"));
    EXPECT_FALSE(secure("192.0.2.1", "https"));
}

TEST(Proxies, Networks_AreReadStrictly) {
    for (std::string const good : {"10.0.0.0/8", "10.0.0.1", "::1", "fd00::/8", "0.0.0.0/0"})
        EXPECT_TRUE(Network::parse(good)) << good;
    for (std::string const bad : {"", "10.0.0.0/33", "10.0.0.0/", "10.0.0/8", "::/129", "host",
                                  "10.0.0.0/-1", "10.0.0.0/8/8", "*"})
        EXPECT_FALSE(Network::parse(bad)) << bad;
}

}  // namespace
}  // namespace dormouse::http
