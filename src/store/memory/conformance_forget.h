#pragma once
// Conformance: a deleted session comes back. Included by conformance.h.

#include "store/memory/conformance_feed.h"

namespace dormouse::store {

inline port::Append deletion(std::uint64_t number, Seq after) {
    auto out = append(number, after);
    out.erase = true;
    return out;
}

inline port::Append restored(port::Append first) {
    first.create_key.reset();
    first.restores = true;
    return first;
}

TEST_P(StoreConformance, Restored_SessionIsCreatedAgainWithItsKeys) {
    Bits128 const key{7};
    auto first = create(1, "acme", 2);
    first.create_key = key;
    first.keys = {{"one", 1}};
    first.outbox = {outbox_row(1, 1, 0, "webhook", 5)};
    first.outbox[0].state = port::OutboxState::dead;
    commit_one(first);
    auto const gone = append(1, 2);
    commit_one(gone);
    commit_one(deletion(1, 3));
    EXPECT_TRUE(moved(store().commit({&first, 1})[0]));
    std::array const both{restored(first), append(1, 2)};
    for (auto const& result : store().commit(both)) EXPECT_TRUE(result) << result.error().detail;
    reopen();
    EXPECT_EQ(store().find_created(key).value(), session(1));
    EXPECT_EQ(store().newest(std::vector{session(1)}).value().front().head, 3u);
    EXPECT_TRUE(store().outbox_message({session(1), 1, 0}).value());
}

TEST_P(StoreConformance, Restored_FeedHasTheDeletionAndWhatComesAfter) {
    commit_one(create(1, "acme"));
    commit_one(append(1, 1));
    commit_one(create(2, "acme"));
    commit_one(deletion(1, 2));
    auto const before = store().feed_head().value();
    commit_one(restored(create(1, "acme")));
    commit_one(append(1, 1));
    EXPECT_EQ(rows_of(store().feed("acme", 0, 1'000'000).value()), "2/1 -1/3 1/1 1/2");
    EXPECT_EQ(rows_of(store().feed("acme", before, 1'000'000).value()), "1/1 1/2");
    commit_one(deletion(1, 2));
    EXPECT_EQ(rows_of(store().feed("acme", before, 1'000'000).value()), "-1/3");
}

TEST_P(StoreConformance, Restored_OnlyADeletedSessionMakesRoom) {
    commit_one(create(1, "acme"));
    commit_one(create(2, "acme"));
    commit_one(deletion(2, 1));
    auto const before = everything(store());
    auto other = create(2, "acme");
    other.session = SessionId::make(2, {});
    other.row->id = other.session;
    for (auto const& late : {restored(create(1, "acme")), restored(other)})
        EXPECT_TRUE(moved(store().commit({&late, 1})[0]));
    EXPECT_EQ(everything(store()), before);
    commit_one(restored(create(3, "acme")));
}

// The deleted session stays as it was: nothing is removed without the append.
TEST_P(StoreConformance, Restored_AppendThatFails_ChangesNothing) {
    auto first = create(1, "acme");
    first.create_key = Bits128{7};
    first.outbox = {outbox_row(1, 1, 0, "webhook", 5)};
    first.outbox[0].state = port::OutboxState::dead;
    commit_one(first);
    auto other = create(2, "acme");
    other.create_key = Bits128{8};
    other.row->alias = "deploy";
    other.claims_alias = true;
    commit_one(other);
    commit_one(deletion(1, 1));
    auto const before = everything(store());
    auto again = restored(first);
    again.create_key = Bits128{8};
    EXPECT_EQ(code(store().commit({&again, 1})[0]), Code::conflict);
    auto alias = restored(first);
    alias.row->alias = "deploy";
    alias.claims_alias = true;
    EXPECT_EQ(code(store().commit({&alias, 1})[0]), Code::alias_taken);
    EXPECT_EQ(everything(store()), before);
    EXPECT_TRUE(store().outbox_message({session(1), 1, 0}).value());
    EXPECT_EQ(store().project_of(session(1)).value(), "acme");
}

TEST_P(StoreConformance, Restored_UndeliveredMessage_IsAConflict) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "held", 5), outbox_row(1, 1, 1, "webhook", 5)};
    commit_one(first);
    commit_one(deletion(1, 1));
    auto const again = restored(create(1, "acme"));
    EXPECT_EQ(code(store().commit({&again, 1})[0]), Code::conflict);
    port::OutboxUpdate const sent{
        .key = {session(1), 1, 1}, .state = port::OutboxState::delivered, .delivered = at(9)};
    ASSERT_TRUE(store().update_messages({&sent, 1}));
    commit_one(again);
    EXPECT_FALSE(store().outbox_message({session(1), 1, 1}).value());
    EXPECT_TRUE(store().outbox_message({session(1), 1, 0}).value()) << "it waits for release";
}

}  // namespace dormouse::store
