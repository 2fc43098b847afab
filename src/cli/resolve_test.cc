#include "cli/resolve.h"

#include "cli/fake_server.h"

#include <gtest/gtest.h>

#include <vector>

namespace dormouse::cli {
namespace {

std::vector<std::string> const ids{"ses_AAAAB", "ses_AAAAC", "ses_AAADD"};

TEST(Match, a_unique_beginning_is_enough_with_or_without_its_prefix) {
    EXPECT_EQ(match("ses_AAAD", "ses_", ids), "ses_AAADD");
    EXPECT_EQ(match("AAAAC", "ses_", ids), "ses_AAAAC");
}

TEST(Match, a_whole_id_wins_over_longer_ones) {
    std::vector<std::string> const nested{"ses_AA", "ses_AAA"};
    EXPECT_EQ(match("ses_AA", "ses_", nested), "ses_AA");
}

TEST(Match, an_ambiguous_beginning_lists_its_candidates) {
    auto const found = match("AAAA", "ses_", ids);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().exit, status::usage);
    EXPECT_NE(found.error().what.find("\n  ses_AAAAB\n  ses_AAAAC"), std::string::npos);
}

TEST(Match, what_nobody_has_is_not_found) {
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

TEST_F(Resolve, a_whole_id_asks_nobody) {
    std::string const id = "ses_AAAAAAEAAAAAAAAAAAAAAA";
    EXPECT_EQ(resolve_session(*client_, "default", id), id);
    EXPECT_TRUE(server_.seen().empty());
}

TEST_F(Resolve, a_beginning_is_looked_for_page_by_page) {
    server_.answer("GET /api/projects/default/sessions?limit=200", 200,
                   R"({"items":[{"id":"ses_AAAB","alias":null}],"next":"c 1"})");
    server_.answer("GET /api/projects/default/sessions?limit=200&cursor=c%201", 200,
                   R"({"items":[{"id":"ses_BBBB","alias":"ops"}],"next":null})");
    EXPECT_EQ(resolve_session(*client_, "default", "BB"), "ses_BBBB");
    EXPECT_EQ(resolve_session(*client_, "default", "ops"), "ses_BBBB");
}

TEST_F(Resolve, the_first_word_of_an_id_says_what_it_is) {
    server_.answer("GET /async-tool/pending?project=default&limit=200", 200,
                   R"({"items":[{"id":"pnd_AB"},{"id":"pnd_CD"}],"next":null})");
    EXPECT_EQ(resolve_either(*client_, "default", "pnd_C"), "pnd_CD");
    EXPECT_EQ(resolve_pending(*client_, "default", "AB"), "pnd_AB");
}

}  // namespace
}  // namespace dormouse::cli
