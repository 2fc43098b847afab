#include "oidc/flow.h"

#include "base/text/text.h"

#include <gtest/gtest.h>

namespace dormouse::oidc {
namespace {

using Wrong = Flows::Wrong;

constexpr Time now = from_ms(1'800'000'000'000);

Random random_of(std::uint8_t first) { return Random{first}; }

Wrong wrong(std::expected<Flow, Wrong> const& got) {
    EXPECT_FALSE(got);
    return got ? Wrong::no_cookie : got.error();
}

TEST(Flows, OwnCookieAndState_AreResumedAfterARestart) {
    Flow const begun = Flows("key").begin(random_of(1), "/a/x?y=z", now);
    Flows restarted("key");
    auto const got = restarted.resume(begun.cookie, begun.state, now + flow_life - Duration(1));
    ASSERT_TRUE(got);
    EXPECT_EQ(got->next, "/a/x?y=z");
    EXPECT_EQ(got->nonce, begun.nonce);
    EXPECT_EQ(got->verifier, begun.verifier);
    EXPECT_EQ(got->id, begun.id);
}

TEST(Flows, Challenge_IsTheDigestOfTheVerifier) {
    Flow const begun = Flows("key").begin(random_of(1), "/", now);
    EXPECT_EQ(begun.verifier.size(), 43U);
    EXPECT_EQ(begun.challenge, base64url(sha256(begun.verifier)));
}

TEST(Flows, Secrets_DifferAndAreNotInTheCookie) {
    Flow const a = Flows("key").begin(random_of(1), "/", now);
    Flow const b = Flows("key").begin(random_of(2), "/", now);
    for (std::string const& secret : {a.state, a.nonce, a.verifier, a.challenge})
        EXPECT_EQ(a.cookie.find(secret), std::string::npos);
    EXPECT_NE(a.state, a.nonce);
    EXPECT_NE(a.nonce, a.verifier);
    EXPECT_NE(a.state, b.state);
    EXPECT_NE(a.nonce, b.nonce);
    EXPECT_NE(a.verifier, b.verifier);
    EXPECT_NE(a.id, b.id);
}

TEST(Flows, SecondUse_IsRefused) {
    Flows flows("key");
    Flow const begun = flows.begin(random_of(1), "/", now);
    EXPECT_TRUE(flows.resume(begun.cookie, begun.state, now));
    EXPECT_EQ(wrong(flows.resume(begun.cookie, begun.state, now)), Wrong::used);
}

TEST(Flows, OtherState_IsRefusedAndUsesNothingUp) {
    Flows flows("key");
    Flow const begun = flows.begin(random_of(1), "/", now);
    Flow const other = flows.begin(random_of(2), "/", now);
    EXPECT_EQ(wrong(flows.resume(begun.cookie, other.state, now)), Wrong::other_state);
    EXPECT_EQ(wrong(flows.resume(begun.cookie, "", now)), Wrong::other_state);
    EXPECT_TRUE(flows.resume(begun.cookie, begun.state, now));
}

TEST(Flows, AfterTenMinutes_IsExpired) {
    Flows flows("key");
    Flow const begun = flows.begin(random_of(1), "/", now);
    EXPECT_EQ(wrong(flows.resume(begun.cookie, begun.state, now + flow_life)), Wrong::expired);
}

TEST(Flows, ChangedOrForeignCookie_IsRefused) {
    Flows flows("key");
    Flow const begun = flows.begin(random_of(1), "/", now);
    for (std::size_t at = 0; at < begun.cookie.size(); ++at) {
        std::string bad = begun.cookie;
        bad[at] = bad[at] == 'A' ? 'B' : 'A';
        ASSERT_EQ(wrong(flows.resume(bad, begun.state, now)), Wrong::no_cookie) << at;
        ASSERT_EQ(wrong(flows.resume(begun.cookie.substr(0, at), begun.state, now)),
                  Wrong::no_cookie);
    }
    Flow const foreign = Flows("other key").begin(random_of(1), "/", now);
    EXPECT_EQ(wrong(flows.resume(foreign.cookie, foreign.state, now)), Wrong::no_cookie);
    EXPECT_EQ(wrong(flows.resume(std::string(100'000, '.'), "", now)), Wrong::no_cookie);
    EXPECT_TRUE(flows.resume(begun.cookie, begun.state, now));
}

TEST(Flows, LongestNext_Fits) {
    Flows flows("key");
    std::string const next(512, '/');
    Flow const begun = flows.begin(random_of(1), next, now);
    auto const got = flows.resume(begun.cookie, begun.state, now);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->next, next);
}

}  // namespace
}  // namespace dormouse::oidc
