#pragma once
// Conformance: sums of days. Included by conformance.h.

#include "store/memory/conformance_tokens.h"

#include <array>

namespace dormouse::store {

inline std::vector<std::int64_t> sums_of(port::Store& store, std::int64_t day) {
    return store.day_sums(day, std::array<std::string, 3>{"b", "none", "a"}).value();
}

TEST_P(StoreConformance, SumsOfADay_AreAddedByAppends) {
    auto first = create(1, "acme");
    first.day_sums = {{20'000, "a", 5}, {20'000, "b", 1}};
    auto second = create(2, "acme");
    second.day_sums = {{20'000, "a", 7}};
    for (auto const& done : store().commit(std::array{first, second})) ASSERT_TRUE(done);
    auto next = append(1, 1);
    next.day_sums = {{20'001, "a", 100}};
    commit_one(next);
    reopen();
    EXPECT_EQ(sums_of(store(), 20'000), (std::vector<std::int64_t>{1, 0, 12}));
    EXPECT_EQ(sums_of(store(), 20'001), (std::vector<std::int64_t>{0, 0, 100}));
    EXPECT_EQ(sums_of(store(), 19'999), (std::vector<std::int64_t>{0, 0, 0}));
}

TEST_P(StoreConformance, RefusedAppend_AddsToNoSum) {
    auto first = create(1, "acme");
    first.day_sums = {{20'000, "a", 5}};
    commit_one(first);
    auto late = append(1, 7);
    late.day_sums = {{20'000, "a", 5}};
    EXPECT_TRUE(moved(store().commit(std::array{late}).front()));
    EXPECT_EQ(sums_of(store(), 20'000), (std::vector<std::int64_t>{0, 0, 5}));
}

TEST_P(StoreConformance, MarkOfADay_ChangesWithItsSums) {
    auto first = create(1, "acme");
    first.day_sums = {{20'000, "a/raised", 5}, {20'000, "a", 1}, {20'001, "b/raised", 9}};
    commit_one(first);
    auto const mark = [&](std::string const& suffix) {
        return store().day_mark(20'000, suffix).value();
    };
    auto const raised = mark("/raised");
    auto const all = mark("");
    EXPECT_NE(raised, 0);
    EXPECT_EQ(mark("/none"), 0);
    EXPECT_EQ(store().day_mark(19'999, "").value(), 0);
    auto next = append(1, 1);
    next.day_sums = {{20'000, "a", 7}};
    commit_one(next);
    EXPECT_EQ(mark("/raised"), raised);
    EXPECT_NE(mark(""), all);
    auto last = append(1, 2);
    last.day_sums = {{20'000, "a/raised", 7}};
    commit_one(last);
    EXPECT_NE(mark("/raised"), raised);
}

TEST_P(StoreConformance, SumsOfLongAgo_AreRemoved) {
    auto first = create(1, "acme");
    first.day_sums = {{20'000, "a", 5}};
    commit_one(first);
    auto week = append(1, 1);
    week.day_sums = {{20'000 + port::days_kept, "a", 5}};
    commit_one(week);
    EXPECT_EQ(sums_of(store(), 20'000), (std::vector<std::int64_t>{0, 0, 5}));
    auto later = append(1, 2);
    later.day_sums = {{20'001 + port::days_kept, "a", 5}};
    commit_one(later);
    EXPECT_EQ(sums_of(store(), 20'000), (std::vector<std::int64_t>{0, 0, 0}));
}

}  // namespace dormouse::store
