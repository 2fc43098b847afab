#pragma once
// Conformance: the id of a deleted session is free again. Included by conformance.h.

#include "store/memory/conformance_feed.h"

namespace dormouse::store {

inline port::Append deletion(std::uint64_t number, Seq after) {
    auto out = append(number, after);
    out.erase = true;
    return out;
}

TEST_P(StoreConformance, ForgetDeleted_SessionIsCreatedAgainWithItsKeys) {
    Bits128 const key{7};
    auto first = create(1, "acme", 2);
    first.create_key = key;
    first.keys = {{"one", 1}};
    first.posts = {post(1, 1, 0, "webhook", 5)};
    first.posts[0].state = port::OutboxState::dead;
    commit_one(first);
    auto const gone = append(1, 2);
    commit_one(gone);
    commit_one(deletion(1, 3));
    EXPECT_TRUE(moved(store().commit({&first, 1})[0]));
    ASSERT_TRUE(store().forget_deleted(session(1), key));
    EXPECT_EQ(store().find_created(key).value(), std::nullopt);
    EXPECT_EQ(store().project_of(session(1)).value(), std::nullopt);
    commit_one(first);
    reopen();
    EXPECT_EQ(store().find_created(key).value(), session(1));
    EXPECT_EQ(store().newest(std::vector{session(1)}).value().front().head, 2u);
    EXPECT_TRUE(store().post({session(1), 1, 0}).value());
}

TEST_P(StoreConformance, ForgetDeleted_FeedHasTheDeletionAndWhatComesAfter) {
    commit_one(create(1, "acme"));
    commit_one(append(1, 1));
    commit_one(create(2, "acme"));
    commit_one(deletion(1, 2));
    auto const before = store().feed_head().value();
    ASSERT_TRUE(store().forget_deleted(session(1), std::nullopt));
    commit_one(create(1, "acme"));
    commit_one(append(1, 1));
    EXPECT_EQ(rows_of(store().feed("acme", 0, 1'000'000).value()), "2/1 -1/3 1/1 1/2");
    EXPECT_EQ(rows_of(store().feed("acme", before, 1'000'000).value()), "1/1 1/2");
    commit_one(deletion(1, 2));
    EXPECT_EQ(rows_of(store().feed("acme", before, 1'000'000).value()), "-1/3");
}

TEST_P(StoreConformance, ForgetDeleted_OtherSessions_StayAsTheyAre) {
    commit_one(create(1, "acme"));
    commit_one(create(2, "acme"));
    commit_one(deletion(2, 1));
    auto const before = everything(store());
    ASSERT_TRUE(store().forget_deleted(session(1), std::nullopt));
    ASSERT_TRUE(store().forget_deleted(session(3), std::nullopt));
    auto const other_id = SessionId::make(2, {});
    ASSERT_TRUE(store().forget_deleted(other_id, std::nullopt));
    EXPECT_EQ(everything(store()), before);
}

TEST_P(StoreConformance, ForgetDeleted_UndeliveredMessage_IsAConflict) {
    auto first = create(1, "acme");
    first.posts = {post(1, 1, 0, "held", 5), post(1, 1, 1, "webhook", 5)};
    commit_one(first);
    commit_one(deletion(1, 1));
    EXPECT_EQ(code(store().forget_deleted(session(1), std::nullopt)), Code::conflict);
    port::OutboxUpdate const sent{
        .key = {session(1), 1, 1}, .state = port::OutboxState::delivered, .delivered = at(9)};
    ASSERT_TRUE(store().update_messages({&sent, 1}));
    ASSERT_TRUE(store().forget_deleted(session(1), std::nullopt));
    EXPECT_FALSE(store().post({session(1), 1, 1}).value());
    commit_one(create(1, "acme"));
    EXPECT_TRUE(store().post({session(1), 1, 0}).value()) << "it waits for release";
}

}  // namespace dormouse::store
