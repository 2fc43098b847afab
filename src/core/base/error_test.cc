#include <dormouse/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace dormouse {
namespace {

TEST(Codes, EveryCode_FindsItsOwnRow) {
    std::size_t const count = static_cast<std::size_t>(Code::newer_format) + 1;
    ASSERT_EQ(codes().size(), count);
    for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(info(static_cast<Code>(i)).code, static_cast<Code>(i));
    }
}

TEST(Codes, Texts_AreUniqueLowerCaseWords) {
    std::set<std::string_view> texts;
    for (CodeInfo const& row : codes()) {
        EXPECT_TRUE(texts.insert(row.text).second) << row.text;
        EXPECT_FALSE(row.text.empty());
        EXPECT_TRUE(std::ranges::all_of(row.text, [](char c) {
            return ('a' <= c && c <= 'z') || c == '_';
        })) << row.text;
    }
}

TEST(Codes, Titles_AreOneSentenceWithoutAFullStop) {
    for (CodeInfo const& row : codes()) {
        ASSERT_GT(row.title.size(), 10u) << row.text;
        EXPECT_TRUE('A' <= row.title[0] && row.title[0] <= 'Z') << row.text;
        EXPECT_NE(row.title.back(), '.') << row.text;
    }
}

TEST(Codes, Next_FollowsTheStatus) {
    for (CodeInfo const& row : codes()) {
        bool const shed = row.http == 429 || row.http == 503;
        if (shed && row.code != Code::newer_format) {
            EXPECT_EQ(row.next, Next::retry) << row.text;
            EXPECT_EQ(row.exit, 8) << row.text;
        }
        if (row.http == 401) {
            EXPECT_EQ(row.next, Next::fix) << row.text;
        }
        if (row.http >= 400 && row.http < 500 && row.next == Next::retry) {
            EXPECT_EQ(row.exit, 8) << row.text;
        }
    }
}

TEST(Codes, ExitStatuses_AreThoseOfTheManual) {
    std::set<int> const manual{1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (CodeInfo const& row : codes()) {
        EXPECT_TRUE(manual.contains(row.exit)) << row.text;
        EXPECT_GE(row.http, 400) << row.text;
        EXPECT_LE(row.http, 503) << row.text;
    }
}

struct Expected {
    Code code;
    std::string_view text;
    Next next;
    int http, exit;
};

class WellKnown : public ::testing::TestWithParam<Expected> {};

TEST_P(WellKnown, Code_KeepsItsMeaning) {
    Expected const& expected = GetParam();
    CodeInfo const& row = info(expected.code);
    EXPECT_EQ(row.text, expected.text);
    EXPECT_EQ(row.next, expected.next);
    EXPECT_EQ(row.http, expected.http);
    EXPECT_EQ(row.exit, expected.exit);
}

INSTANTIATE_TEST_SUITE_P(
    Codes, WellKnown,
    ::testing::Values(Expected{Code::bad_json, "bad_json", Next::fix, 400, 2},
                      Expected{Code::unauthenticated, "unauthenticated", Next::fix, 401, 6},
                      Expected{Code::not_found, "not_found", Next::fix, 404, 3},
                      Expected{Code::conflict, "conflict", Next::stop, 409, 4},
                      Expected{Code::cancelled, "cancelled", Next::stop, 409, 5},
                      Expected{Code::wrong_state, "wrong_state", Next::stop, 409, 4},
                      Expected{Code::session_busy, "session_busy", Next::retry, 409, 8},
                      Expected{Code::claimed, "claimed", Next::retry, 409, 8},
                      Expected{Code::not_ready, "not_ready", Next::retry, 409, 8},
                      Expected{Code::expired, "expired", Next::stop, 410, 5},
                      Expected{Code::bad_number_or_key, "bad_number_or_key", Next::fix, 422, 2},
                      Expected{Code::queue_full, "queue_full", Next::retry, 429, 8},
                      Expected{Code::internal, "internal", Next::retry, 500, 1},
                      Expected{Code::store_unavailable, "store_unavailable", Next::retry, 503, 8},
                      Expected{Code::newer_format, "newer_format", Next::stop, 503, 9}));

TEST(Codes, Next_HasAText) {
    EXPECT_EQ(text(Next::fix), "fix");
    EXPECT_EQ(text(Next::retry), "retry");
    EXPECT_EQ(text(Next::stop), "stop");
    EXPECT_EQ(text(Next::reopen), "reopen");
}

TEST(Fail, Error_HasCodeDetailAndExtra) {
    Result<int> const result = fail(Code::conflict, "settled", Json::trusted("{\"a\":1}"));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, Code::conflict);
    EXPECT_EQ(result.error().detail, "settled");
    EXPECT_EQ(result.error().extra.text(), "{\"a\":1}");
    EXPECT_EQ(result.error().retry_after_ms, 0);
}

TEST(CodesDeathTest, InvalidCode_StopsTheProcess) {
    EXPECT_DEATH(static_cast<void>(info(static_cast<Code>(255))), "broken invariant");
}

}  // namespace
}  // namespace dormouse
