#include "cli/client/resolve.h"

#include "cli/client/test_server.h"

#include <gtest/gtest.h>

#include <vector>

namespace dormouse::cli {
namespace {

std::vector<std::string> const ids{"ses_AAAAB", "ses_AAAAC", "ses_AAADD"};

TEST(Match, UniqueBeginning_WithOrWithoutPrefix_Matches) {
    EXPECT_EQ(match("ses_AAAD", "ses_", ids), "ses_AAADD");
    EXPECT_EQ(match("AAAAC", "ses_", ids), "ses_AAAAC");
}

TEST(Match, WholeId_WinsOverLongerOnes) {
    std::vector<std::string> const nested{"ses_AA", "ses_AAA"};
    EXPECT_EQ(match("ses_AA", "ses_", nested), "ses_AA");
}

TEST(Match, AmbiguousBeginning_ListsItsCandidates) {
    auto const found = match("AAAA", "ses_", ids);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit, status::conflict);
    EXPECT_NE(found.error().what.find("\n  ses_AAAAB\n  ses_AAAAC"), std::string::npos);
}

TEST(Match, NoMatch_IsNotFound) {
    auto const found = match("ses_ZZ", "ses_", ids);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit, status::not_found);
}

class Resolve : public testing::Test {
protected:
    Resolve() {
        Client::Options options;
        options.address = *parse_url(server_.url());
        client_ = std::make_unique<Client>(std::move(options));
    }

    FakeServer server_;
    std::unique_ptr<Client> client_;
};

TEST_F(Resolve, WholeId_SendsNoRequest) {
    std::string const id = "ses_AAAAAAEAAAAAAAAAAAAAAA";
    EXPECT_EQ(resolve_session(*client_, "default", id), id);
    EXPECT_TRUE(server_.seen().empty());
}

TEST_F(Resolve, Beginning_IsSearchedPageByPage) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[{"id":"ses_AAAB","alias":null}],"next":"c 1"})");
    server_.answer("GET /api/projects/default/sessions?limit=200&cursor=c%201", 200,
                   R"({"items":[{"id":"ses_BBBB","alias":"ops"}],"next":null})");
    EXPECT_EQ(resolve_session(*client_, "default", "BB"), "ses_BBBB");
    EXPECT_EQ(resolve_session(*client_, "default", "ops"), "ses_BBBB");
}

TEST_F(Resolve, PrefixOfAnId_SaysItsKind) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[{"id":"ses_AB"},{"id":"ses_CD"}],"next":null})");
    server_.answer("GET /api/explain/ses_AB", 200, R"({"calls":[{"pendingID":"pnd_AB_1"}]})");
    server_.answer("GET /api/explain/ses_CD", 200, R"({"calls":[{"pendingID":"pnd_CD_1"}]})");
    EXPECT_EQ(resolve_either(*client_, "default", "pnd_C"), "pnd_CD_1");
    EXPECT_EQ(resolve_either(*client_, "default", "C"), "ses_CD");
    EXPECT_EQ(resolve_pending(*client_, "default", "AB"), "pnd_AB_1");
}

TEST_F(Resolve, SettledCall_CountsToo) {
    // Otherwise a repeated command would settle the next call of the session.
    std::string const session = "AAAAAAEAAAAAAAAAAAAAAA";
    server_.answer("GET /api/explain/ses_" + session, 200,
                   R"({"calls":[{"pendingID":"pnd_)" + session + R"(_1_1_A"},{"pendingID":"pnd_)" +
                       session + R"(_2_1_B"}]})");
    auto const found = resolve_pending(*client_, "default", "pnd_" + session);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit, status::conflict);
    EXPECT_EQ(resolve_pending(*client_, "default", "pnd_" + session + "_2"),
              "pnd_" + session + "_2_1_B");
}

TEST_F(Resolve, IdOfACallForASession_NamesItsSession) {
    std::string const session = "AAAAAAEAAAAAAAAAAAAAAA";
    auto const found = resolve_session(*client_, "default", "pnd_" + session + "_1_1_A");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit, status::usage);
    EXPECT_TRUE(found.error().what.ends_with("belongs to the session ses_" + session))
        << found.error().what;
    EXPECT_EQ(server_.seen().size(), 0U);
}

TEST_F(Resolve, TooManyCandidates_AreNotSearched) {
    std::string items;
    for (char c = 'A'; c < 'K'; ++c)
        items += std::string(c == 'A' ? "" : ",") + R"({"id":"ses_A)" + c + "\"}";
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[)" + items + R"(],"next":null})");
    auto const found = resolve_pending(*client_, "default", "pnd_A");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit, status::conflict);
    EXPECT_EQ(server_.seen().size(), 1U);
}

// base64url contains '_': AAAAAAE_mu is not an id of a kind "AAAAAAE_".
TEST_F(Resolve, BeginningOfASession_MayContainUnderscore) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[{"id":"ses_AAAAAAE_mu7"},{"id":"ses_AAAAAAC"}],"next":null})");
    EXPECT_EQ(resolve_any(*client_, "default", "AAAAAAE_mu"), "ses_AAAAAAE_mu7");
}

TEST_F(Resolve, OtherIds_ResolveToTheirSession) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[{"id":"ses_AAAAAAB"},{"id":"ses_AAAAAAC"}],"next":null})");
    EXPECT_EQ(resolve_any(*client_, "default", "trn_AAAAAAB"), "ses_AAAAAAB");
    EXPECT_EQ(resolve_any(*client_, "default", "rcp_AAAAAAC"), "ses_AAAAAAC");
    std::string const whole = "rcp_AAAAAAEAAAAAAAAAAAAAAA_7";
    EXPECT_EQ(resolve_any(*client_, "default", whole), whole);
}

}  // namespace
}  // namespace dormouse::cli
