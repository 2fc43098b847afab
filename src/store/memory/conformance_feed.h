#pragma once
// Conformance: the feed of a project, and artifacts. Included by conformance.h.

#include "store/memory/conformance_fixture.h"

namespace dormouse::store {

// Returns "n:session/first" for each row; "-" precedes a deletion.
inline std::string rows_of(port::FeedPage const& page) {
    std::string out;
    for (auto const& row : page.rows) {
        out += (out.empty() ? "" : " ") + std::string(row.deleted ? "-" : "") +
               std::to_string(row.session.number()) + "/" + std::to_string(row.frame.first);
    }
    return out;
}

TEST_P(StoreConformance, Feed_HasTheProjectsAppendsInCommitOrder) {
    commit_one(create(1, "acme"));
    commit_one(create(2, "other"));
    commit_one(create(3, "acme", 2));
    commit_one(append(1, 1));
    auto const page = store().feed("acme", 0, 1'000'000).value();
    EXPECT_EQ(rows_of(page), "1/1 3/1 1/2");
    EXPECT_EQ(page.rows[2].frame.bytes, append(1, 1).frame.bytes);
    EXPECT_EQ(page.rows[1].frame.count, 2u);
    EXPECT_EQ(page.next, store().feed_head().value());
    EXPECT_FALSE(page.more);
    EXPECT_FALSE(page.gone);
    EXPECT_EQ(rows_of(store().feed("other", 0, 1'000'000).value()), "2/1");
    EXPECT_EQ(rows_of(store().feed("nobody", 0, 1'000'000).value()), "");
    auto const all = store().feed(port::Projects::all(), 0, 1'000'000).value();
    EXPECT_GT(all.rows.size(), page.rows.size());
    for (port::FeedRow const& row : all.rows)
        EXPECT_EQ(row.project, row.session == session(2) ? "other" : "acme");
    EXPECT_EQ(rows_of(store().feed(port::Projects::of({"acme", "other"}), 0, 1'000'000).value()),
              rows_of(all));
}

TEST_P(StoreConformance, Feed_Pages_ContinueAfterAnyPlace) {
    for (std::uint64_t number = 1; number <= 5; ++number)
        commit_one(create(number, number == 3 ? "other" : "acme"));
    std::string all;
    std::uint64_t after = 0;
    for (bool more = true; more;) {
        auto const page = store().feed("acme", after, 1).value();
        EXPECT_LE(page.rows.size(), 1u);
        EXPECT_GT(page.next, after);
        all += rows_of(page) + ";";
        after = page.next;
        more = page.more;
    }
    EXPECT_EQ(all, "1/1;2/1;4/1;5/1;");
    EXPECT_EQ(after, store().feed_head().value());
    auto const end = store().feed("acme", after, 1).value();
    EXPECT_EQ(end.next, after);
    EXPECT_FALSE(end.more);
}

TEST_P(StoreConformance, Feed_FailedAppend_IsNotListed) {
    commit_one(create(1, "acme"));
    auto const late = append(1, 7);
    ASSERT_FALSE(store().commit({&late, 1})[0]);
    EXPECT_EQ(rows_of(store().feed("acme", 0, 1'000'000).value()), "1/1");
}

TEST_P(StoreConformance, Feed_DeletedSession_HasOnlyTheDeletion) {
    commit_one(create(1, "acme"));
    commit_one(create(2, "acme"));
    auto gone = append(1, 1);
    gone.erase = true;
    commit_one(gone);
    EXPECT_EQ(rows_of(store().feed("acme", 0, 1'000'000).value()), "2/1 -1/2");
}

TEST_P(StoreConformance, Feed_AfterReopen_ContinuesCounting) {
    commit_one(create(1, "acme"));
    auto const head = store().feed_head().value();
    reopen();
    EXPECT_EQ(store().feed_head().value(), head);
    EXPECT_GE(store().feed_limit().value(), head);
    commit_one(create(2, "acme"));
    EXPECT_EQ(rows_of(store().feed("acme", head, 1'000'000).value()), "2/1");
}

TEST_P(StoreConformance, Artifact_IsKeptUntilTheSessionIsDeleted) {
    auto first = create(1, "acme");
    auto const bytes =
        std::make_shared<std::string const>(std::string("a\0b", 3) + std::string(100'000, 'x'));
    first.artifacts = {{1, bytes}};
    commit_one(first);
    reopen();
    EXPECT_EQ(store().artifact(session(1), 1).value(), *bytes);
    EXPECT_EQ(store().artifact(session(1), 2).value(), std::nullopt);
    EXPECT_EQ(store().artifact(session(2), 1).value(), std::nullopt);
    auto gone = append(1, 1);
    gone.erase = true;
    commit_one(gone);
    EXPECT_EQ(store().artifact(session(1), 1).value(), std::nullopt);
}

TEST_P(StoreConformance, ArtifactPieces_TogetherAreTheArtifact) {
    std::string bytes;
    for (int i = 0; i < 30'000; ++i) bytes += std::to_string(i);
    auto first = create(1, "acme");
    first.artifacts = {{1, std::make_shared<std::string const>(bytes)}};
    commit_one(first);
    std::string read;
    for (std::uint64_t at = 0; at < bytes.size(); at += 9'973) {
        auto const piece = store().artifact_piece(session(1), 1, at, 9'973);
        ASSERT_TRUE(piece && *piece);
        read += **piece;
    }
    EXPECT_EQ(read, bytes);
    EXPECT_EQ(store().artifact_piece(session(1), 1, bytes.size(), 10).value(), "");
    EXPECT_EQ(store().artifact_piece(session(1), 2, 0, 10).value(), std::nullopt);
    EXPECT_EQ(store().artifact_piece(session(2), 1, 0, 10).value(), std::nullopt);
}

TEST_P(StoreConformance, Artifact_OfRefusedAppend_IsNotKept) {
    commit_one(create(1, "acme"));
    auto stale = append(1, 0);
    stale.artifacts = {{1, std::make_shared<std::string const>("bytes")}};
    auto good = append(1, 1);
    good.artifacts = {{2, std::make_shared<std::string const>("more")}};
    std::vector<port::Append> const both{stale, good};
    auto const results = store().commit(both);
    EXPECT_FALSE(results.at(0));
    EXPECT_TRUE(results.at(1));
    EXPECT_EQ(store().artifact(session(1), 1).value(), std::nullopt);
    EXPECT_EQ(store().artifact(session(1), 2).value(), "more");
}

// REQUIRES: `store` is new and keeps 100 appends of the feed.
inline void expect_that_only_the_newest_100_are_kept(port::Store& store) {
    auto first = create(1, "acme");
    ASSERT_TRUE(store.commit({&first, 1})[0]);
    for (Seq after = 1; after < 300; ++after) {
        auto const next = append(1, after);
        ASSERT_TRUE(store.commit({&next, 1})[0]);
    }
    auto const page = store.feed("acme", 0, 1'000'000).value();
    ASSERT_FALSE(page.rows.empty());
    EXPECT_EQ(page.rows.back().frame.first, 300u);
    EXPECT_GE(page.rows.size(), 100u);
    EXPECT_LE(page.rows.size(), 102u);
    EXPECT_TRUE(store.feed("acme", 5, 1'000'000).value().gone);
    EXPECT_FALSE(store.feed("acme", page.rows.front().n - 1, 1'000'000).value().gone)
        << "no row after that place is missing";
}

}  // namespace dormouse::store
