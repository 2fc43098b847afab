#include "http/access/tokens.h"

#include "http/access/rate.h"
#include "runner/testing/world.h"

#include <gtest/gtest.h>

namespace dormouse::http {
namespace {

class TokensTest : public ::testing::Test {
protected:
    port::TokenRow row(std::string id, std::string const& secret) const {
        port::TokenRow out{.id = std::move(id), .kind = "token", .name = "alice", .role = "answer"};
        out.secret = sha256(secret);
        out.created = clock.now();
        return out;
    }

    runner::testing::TestLoop loop;
    runner::testing::TestClock clock{loop};
    Tokens tokens{clock};
};

TEST_F(TokensTest, Revoked_SecretIsNotFoundAndHolderSeesIt) {
    tokens.add(row("tok_a", "s3cret"));
    auto const found = tokens.find("token", "s3cret");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->row.id, "tok_a");
    EXPECT_EQ(found->role, Role::answer);
    EXPECT_FALSE(tokens.find("cookie", "s3cret"));
    for (std::string const wrong : {"", "s3cre", "s3cret ", "S3CRET"})
        EXPECT_FALSE(tokens.find("token", wrong)) << wrong;
    tokens.remove("tok_a");
    EXPECT_TRUE(found->revoked);
    EXPECT_FALSE(found->valid(clock.now()));
    EXPECT_FALSE(tokens.find("token", "s3cret"));
}

TEST_F(TokensTest, Expired_SecretIsNotFound) {
    auto brief = row("tok_a", "s3cret");
    brief.expires = clock.now() + Duration(1'000);
    tokens.add(brief);
    EXPECT_TRUE(tokens.find("token", "s3cret"));
    EXPECT_TRUE(tokens.expired().empty());
    loop.advance(Duration(1'000));
    EXPECT_FALSE(tokens.find("token", "s3cret"));
    EXPECT_EQ(tokens.expired(), std::vector<std::string>{"tok_a"});
    EXPECT_TRUE(tokens.all().empty());
}

TEST_F(TokensTest, RowsOfTheStore_ReplaceThoseInMemoryOnly) {
    tokens.add_built_in("first", "built in");
    tokens.add(row("tok_a", "gone"));
    tokens.add(row("tok_b", "stays"));
    auto const gone = tokens.find("token", "gone");
    auto const stays = tokens.find("token", "stays");
    tokens.replace_stored({row("tok_b", "stays"), row("tok_c", "new")});
    EXPECT_FALSE(tokens.find("token", "gone"));
    EXPECT_TRUE(gone->revoked) << "its streams end";
    EXPECT_EQ(tokens.find("token", "stays"), stays);
    EXPECT_TRUE(tokens.find("token", "new"));
    EXPECT_TRUE(tokens.find("token", "built in"));
}

TEST_F(TokensTest, UnknownRole_PermitsNothing) {
    for (std::string const role : {"", "anyone", "root", "Admin", "admin "}) {
        auto odd = row("tok_a", "s3cret");
        odd.role = role;
        tokens.add(odd);
        EXPECT_FALSE(tokens.find("token", "s3cret")) << role;
    }
}

port::TokenRow revocation_of(std::string_view secret) {
    return {.id = "revoked_x",
            .kind = std::string(revoked_kind),
            .name = "first",
            .role = "admin",
            .projects = {},
            .agents = {},
            .secret = sha256(secret),
            .created = {},
            .expires = {}};
}

TEST_F(TokensTest, RevokedSecret_EndsBuiltInTokensAlone) {
    tokens.add_built_in("env", "leaked");
    tokens.add_built_in("first", "leaked");
    tokens.add(row("tok_a", "other"));
    auto const held = tokens.find("token", "leaked");
    ASSERT_TRUE(held);
    tokens.replace_stored({revocation_of("leaked"), row("tok_a", "other")});
    EXPECT_FALSE(tokens.find("token", "leaked"));
    EXPECT_FALSE(tokens.find_id("first"));
    EXPECT_FALSE(tokens.find_id("env"));
    EXPECT_TRUE(held->revoked) << "its streams end";
    EXPECT_TRUE(tokens.find("token", "other"));
    EXPECT_EQ(tokens.all().size(), 1U) << "the revocation is no token";
}

TEST_F(TokensTest, RevocationRead_EndsTheTokenOfANewProcess) {
    tokens.add_built_in("first", "leaked");
    tokens.add(revocation_of("leaked"));
    EXPECT_FALSE(tokens.find("token", "leaked"));
    EXPECT_TRUE(tokens.all().empty());
}

TEST_F(TokensTest, NewRowOfTheSameId_ReplacesTheOld) {
    tokens.add(row("tok_a", "old"));
    tokens.add(row("tok_a", "new"));
    EXPECT_FALSE(tokens.find("token", "old"));
    EXPECT_TRUE(tokens.find("token", "new"));
    EXPECT_EQ(tokens.size(), 1U);
}

TEST_F(TokensTest, ProjectsAndAgents_AreThoseOfTheRow) {
    Principal one;
    EXPECT_TRUE(one.is_for("any"));
    EXPECT_TRUE(one.may_start("ops", false));
    EXPECT_FALSE(one.may_start("coder", true));
    one.row.projects = {"a"};
    one.row.agents = {"coder"};
    EXPECT_TRUE(one.is_for("a"));
    EXPECT_FALSE(one.is_for("ab"));
    EXPECT_FALSE(one.is_for(""));
    EXPECT_TRUE(one.may_start("coder", true));
    EXPECT_FALSE(one.may_start("ops", false));
    one.row.agents = {"*"};
    EXPECT_TRUE(one.may_start("coder", true));
}

TEST_F(TokensTest, Rate_CountsByKeyAndSecondInBoundedMemory) {
    Rate rate(clock, 2);
    EXPECT_TRUE(rate.take("a"));
    EXPECT_TRUE(rate.take("a"));
    EXPECT_FALSE(rate.take("a"));
    EXPECT_TRUE(rate.take("b"));
    loop.advance(Duration(1'000));
    EXPECT_TRUE(rate.take("a"));
    for (std::size_t i = 0; i < Rate::keys_most + 2; ++i) (void)rate.take(std::to_string(i));
    EXPECT_FALSE(rate.take("late")) << "those over the limit share one count";
    EXPECT_TRUE(rate.take("a")) << "and those before it keep theirs";
}

TEST_F(TokensTest, TokensOfExternalAgents_AreNotListed) {
    tokens.add(row("tok_a", "s3cret"));
    tokens.add_agent_token(SessionId::make(7, {}), "program secret");
    EXPECT_TRUE(tokens.find("token", "program secret"));
    ASSERT_EQ(tokens.all().size(), 1U);
    EXPECT_EQ(tokens.all().front()->row.id, "tok_a");
}

}  // namespace
}  // namespace dormouse::http
