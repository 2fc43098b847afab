#pragma once
// Conformance: data for webhooks. Included by conformance.h.

#include "store/memory/conformance_fixture.h"

namespace dormouse::store {

inline port::KeptRow kept_row(std::uint8_t key, std::int64_t ms) {
    return {.delivery = {{key}, {9, key}},
            .delivery_id = "d" + std::to_string(key),
            .at = at(ms),
            .source = "ci",
            .project = "acme",
            .reference = "run-1",
            .body = R"({"n":)" + std::to_string(key) + "}"};
}

inline std::string names(std::vector<port::KeptRow> const& rows) {
    std::string out;
    for (port::KeptRow const& row : rows) out += row.delivery_id + " ";
    return out;
}

TEST_P(StoreConformance, Calls_AreFoundByExternalRef) {
    auto first = create(1, "acme", 9);
    first.pending = {pause(1), pause(2), pause(3)};
    first.pending[0].external_ref = first.pending[1].external_ref = "run-1";
    first.pending[1].status = port::PendingStatus::completed;
    first.pending[2].external_ref = "run-2";
    auto second = create(2, "other");
    second.pending = {pause(1)};
    second.pending[0].external_ref = "run-1";
    auto third = create(3, "acme");
    third.pending = {pause(1)};
    third.pending[0].external_ref = "run-1";
    for (auto const& one : {first, second, third}) commit_one(one);
    EXPECT_EQ(listed({.project = "acme", .external_ref = "run-1"}), "3/1/1 1/2/1 1/1/1");
    EXPECT_EQ(listed({.project = "acme",
                      .statuses = {port::PendingStatus::waiting},
                      .external_ref = "run-1"}),
              "3/1/1 1/1/1");
    EXPECT_EQ(listed({.project = "acme", .external_ref = "run-1", .limit = 1}), "3/1/1");
    EXPECT_EQ(listed({.project = "acme",
                      .external_ref = "run-1",
                      .before = PendingId{session(3), 1, 1, {}}}),
              "1/2/1 1/1/1");
    EXPECT_EQ(listed({.project = "acme", .tool = "none", .external_ref = "run-1"}), "");
    EXPECT_EQ(listed({.project = "acme", .external_ref = "run"}), "");
    reopen();
    EXPECT_EQ(store().pending(session(1), 3, 1).value()->external_ref, "run-2");
    auto settled = append(1, 9);
    settled.pending = {first.pending[0]};
    settled.pending[0].status = port::PendingStatus::failed;
    commit_one(settled);
    EXPECT_EQ(listed({.project = "acme",
                      .statuses = {port::PendingStatus::waiting},
                      .external_ref = "run-1"}),
              "3/1/1");
}

TEST_P(StoreConformance, Secret_StaysUntilTheSessionIsDeleted) {
    auto first = create(1, "acme", 9);
    first.secrets = {{1, 1, "one"}, {1, 2, "two"}};
    commit_one(first);
    reopen();
    EXPECT_EQ(store().secret(session(1), 1, 2).value(), "two");
    EXPECT_FALSE(store().secret(session(1), 2, 1).value());
    EXPECT_FALSE(store().secret(session(2), 1, 1).value());
    auto again = append(1, 9);
    again.secrets = {{1, 2, "three"}};
    commit_one(again);
    EXPECT_EQ(store().secret(session(1), 1, 2).value(), "three");
    auto last = append(1, 10);
    last.erase = true;
    commit_one(last);
    EXPECT_FALSE(store().secret(session(1), 1, 1).value());
}

TEST_P(StoreConformance, SentMessage_IsKnownUntilClosedOrDeleted) {
    auto first = create(1, "acme", 9);
    first.outbox = {outbox_row(1, 9, 0, "notify:CHAT", 0)};
    commit_one(first);
    port::OutboxUpdate update;
    update.key = first.outbox[0].key;
    auto const known = [&] {
        std::string out;
        for (port::SentRow const& row : store().sent(session(1), 2, 1, "notify:CHAT").value())
            out += row.reference + "=" + row.body + " ";
        return out;
    };
    for (std::string const reference : {"b", "a", "b"}) {
        update.sent = port::SentRow{2, 1, "notify:CHAT", reference, "body"};
        ASSERT_TRUE(store().update_messages({&update, 1}));
    }
    reopen();
    EXPECT_EQ(known(), "a=body b=body ");
    EXPECT_TRUE(store().sent(session(1), 2, 2, "notify:CHAT").value().empty());
    EXPECT_TRUE(store().sent(session(1), 2, 1, "notify:OTHER").value().empty());
    update.sent.reset();
    update.closed = port::SentRow{2, 1, "notify:CHAT", "a"};
    ASSERT_TRUE(store().update_messages({&update, 1}));
    EXPECT_EQ(known(), "b=body ");
    auto last = append(1, 9);
    last.erase = true;
    commit_one(last);
    EXPECT_TRUE(known().empty());
    update.sent = port::SentRow{2, 1, "notify:CHAT", "late"};
    ASSERT_TRUE(store().update_messages({&update, 1}));
    EXPECT_TRUE(known().empty());
}

// A person, or another process, has changed the message during the attempt.
TEST_P(StoreConformance, OutcomeOfAnAttempt_OfAChangedMessage_IsDropped) {
    auto first = create(1, "acme", 9);
    for (std::uint32_t const n : {0, 1}) first.outbox.push_back(outbox_row(1, 9, n, "webhook", 10));
    commit_one(first);
    port::OutboxUpdate outcome{.key = first.outbox[0].key};
    outcome.attempt = port::OutboxAttempt{.attempts = 0, .next_at = at(10)};
    outcome.attempts = 1;
    outcome.next_at = at(40);
    auto const stored = [&] { return store().outbox_message(outcome.key).value(); };
    ASSERT_TRUE(store().update_messages({&outcome, 1}));
    EXPECT_EQ(stored()->next_at, at(40));
    auto late = outcome;
    late.state = port::OutboxState::dead;
    ASSERT_TRUE(store().update_messages({&late, 1})) << "the attempts differ";
    EXPECT_EQ(stored()->state, port::OutboxState::pending);
    late.attempt = port::OutboxAttempt{.attempts = 1, .next_at = at(39)};
    ASSERT_TRUE(store().update_messages({&late, 1})) << "the time differs";
    EXPECT_EQ(stored()->state, port::OutboxState::pending);
    outcome.attempt = port::OutboxAttempt{.attempts = 1, .next_at = at(40)};
    outcome.state = port::OutboxState::delivered;
    outcome.delivered = at(50);
    ASSERT_TRUE(store().update_messages({&outcome, 1}));
    late.attempt = outcome.attempt;
    ASSERT_TRUE(store().update_messages({&late, 1})) << "it is delivered";
    late.gone = true;
    ASSERT_TRUE(store().update_messages({&late, 1}));
    EXPECT_EQ(stored()->state, port::OutboxState::delivered);
    port::OutboxUpdate withdrawn{.key = first.outbox[1].key, .gone = true};
    withdrawn.attempt = port::OutboxAttempt{.attempts = 0, .next_at = at(10)};
    ASSERT_TRUE(store().update_messages({&withdrawn, 1}));
    EXPECT_FALSE(store().outbox_message(withdrawn.key).value());
}

// The receiver has the message, whatever became of the row.
TEST_P(StoreConformance, SentMessage_OfADroppedOutcome_IsKnown) {
    auto first = create(1, "acme", 9);
    first.outbox = {outbox_row(1, 9, 0, "notify:CHAT", 0)};
    commit_one(first);
    port::OutboxUpdate update{.key = first.outbox[0].key};
    update.attempt = port::OutboxAttempt{.attempts = 7, .next_at = at(0)};
    update.sent = port::SentRow{2, 1, "notify:CHAT", "a", "body"};
    ASSERT_TRUE(store().update_messages({&update, 1}));
    EXPECT_EQ(store().sent(session(1), 2, 1, "notify:CHAT").value().size(), 1U);
    port::OutboxUpdate const gone{.key = update.key, .gone = true};
    ASSERT_TRUE(store().update_messages({&gone, 1}));
    update.sent->reference = "b";
    ASSERT_TRUE(store().update_messages({&update, 1}));
    EXPECT_EQ(store().sent(session(1), 2, 1, "notify:CHAT").value().size(), 2U);
}

TEST_P(StoreConformance, Delivery_IsStoredWithItsAppendAndStays) {
    auto first = create(1, "acme");
    first.delivered = {{{1}, {2}}, {{3}, {4}}};
    commit_one(first);
    auto lost = append(1, 7);
    lost.delivered = {{{5}, {6}}};
    EXPECT_FALSE(store().commit({&lost, 1})[0]);
    reopen();
    EXPECT_EQ(store().delivered({1}).value(), Bits128{2});
    EXPECT_FALSE(store().delivered({5}).value()) << "its append failed";
    auto last = append(1, 1);
    last.erase = true;
    commit_one(last);
    EXPECT_EQ(store().delivered({3}).value(), Bits128{4});
}

// If several appends name the same delivery, only the first one is written.
TEST_P(StoreConformance, DeliveryThatIsKnown_ItsAppendFailsAlone) {
    auto first = create(1, "acme");
    first.delivered = {{{1}, {2}}};
    commit_one(first);
    auto again = create(2, "acme");
    again.delivered = {{{3}, {4}}, {{1}, {2}}};
    again.create_key = Bits128{7};
    auto same = append(1, 1);
    same.delivered = {{{1}, {2}}};
    auto other = create(3, "acme");
    other.delivered = {{{5}, {6}}};
    auto late = create(4, "acme");
    late.delivered = {{{5}, {6}}};
    std::vector const batch{again, same, other, late};
    auto const results = store().commit(batch);
    for (std::size_t const i : {0U, 1U, 3U})
        EXPECT_EQ(results[i].error().cause, port::AppendError::Cause::moved) << i;
    EXPECT_TRUE(results[2]);
    EXPECT_FALSE(store().delivered({3}).value()) << "its append failed";
    EXPECT_EQ(store().delivered({1}).value(), Bits128{2});
    again.delivered.pop_back();
    commit_one(again);
    EXPECT_EQ(store().delivered({3}).value(), Bits128{4});
    commit_one(append(1, 1));
}

inline std::vector<port::KeptRow> all_kept(port::Store& store) {
    return store.kept({}, 100, SIZE_MAX).value();
}

TEST_P(StoreConformance, KeptDelivery_IsRemovedByTheAppendThatTakesIt) {
    ASSERT_TRUE(store().keep(kept_row(1, 30)));
    ASSERT_TRUE(store().keep(kept_row(2, 10)));
    ASSERT_TRUE(store().keep(kept_row(3, 20)));
    EXPECT_EQ(code(store().keep(kept_row(3, 99))), Code::conflict);
    reopen();
    auto const rows = all_kept(store());
    EXPECT_EQ(names(rows), "d2 d3 d1 ") << "oldest first";
    EXPECT_EQ(names(store().kept({}, 2, SIZE_MAX).value()), "d2 d3 ");
    EXPECT_EQ(rows[0].delivery.digest, (Bits128{9, 2}));
    EXPECT_EQ(rows[0].at, at(10));
    EXPECT_EQ(rows[0].source + rows[0].project + rows[0].reference + rows[0].body,
              R"(ciacmerun-1{"n":2})");
    EXPECT_EQ(store().delivered({2}).value(), (Bits128{9, 2})) << "known while it is kept";
    EXPECT_EQ(store().kept_delivery({2}).value()->body, R"({"n":2})");
    EXPECT_FALSE(store().kept_delivery({4}).value());
    auto taker = create(1, "acme");
    taker.delivered = {rows[0].delivery};
    commit_one(taker);
    EXPECT_EQ(names(all_kept(store())), "d3 d1 ");
    EXPECT_FALSE(store().kept_delivery({2}).value());
    EXPECT_EQ(store().delivered({2}).value(), (Bits128{9, 2})) << "and afterwards";
    EXPECT_EQ(code(store().keep(kept_row(2, 50))), Code::conflict);
    std::vector<Bits128> const old{{3}, {7}};
    ASSERT_TRUE(store().drop_kept(old));
    EXPECT_EQ(names(all_kept(store())), "d1 ");
    EXPECT_FALSE(store().delivered({3}).value());
}

TEST_P(StoreConformance, KeptDeliveries_AreReadInPages) {
    for (std::uint8_t n = 1; n <= 4; ++n) ASSERT_TRUE(store().keep(kept_row(n, 30)));
    ASSERT_TRUE(store().keep(kept_row(5, 10)));
    std::string found;
    std::optional<port::KeptPlace> after;
    for (int page = 0; page < 3; ++page) {
        auto const rows = store().kept(after, 2, SIZE_MAX).value();
        found += names(rows) + "| ";
        if (!rows.empty()) after = port::KeptPlace{rows.back().at, rows.back().delivery.key};
    }
    EXPECT_EQ(found, "d5 d1 | d2 d3 | d4 | ");
    EXPECT_TRUE(store().kept(after, 2, SIZE_MAX).value().empty());
    EXPECT_EQ(names(store().kept({}, 9, 1).value()), "d5 ") << "a body has more than one byte";
    std::size_t const body = kept_row(1, 30).body.size();
    EXPECT_EQ(names(store().kept({}, 9, 2 * body).value()), "d5 d1 ");
}

TEST_P(StoreConformance, OldKeptDeliveries_AreDropped) {
    for (std::uint8_t n = 1; n <= 3; ++n) ASSERT_TRUE(store().keep(kept_row(n, n * 10)));
    ASSERT_TRUE(store().drop_old_kept(at(20)));
    EXPECT_EQ(names(all_kept(store())), "d2 d3 ");
    ASSERT_TRUE(store().drop_old_kept(at(20)));
    EXPECT_EQ(names(all_kept(store())), "d2 d3 ");
}

TEST_P(StoreConformance, OutgoingPosts_AreListedByProjectAndState) {
    auto first = create(1, "acme", 9);
    for (Seq const seq : {2, 5, 7}) first.outbox.push_back(outbox_row(1, seq, 0, "webhook", 0));
    first.outbox.push_back(outbox_row(1, 5, 1, "session", 0));
    first.outbox[1].state = port::OutboxState::dead;
    auto second = create(2, "other");
    second.outbox = {outbox_row(2, 1, 0, "webhook", 0)};
    auto third = create(3, "acme");
    third.outbox = {outbox_row(3, 1, 0, "webhook", 0)};
    for (auto const& one : {first, second, third}) commit_one(one);
    auto const keys = [&](port::OutboxFilter const& filter) {
        std::string out;
        auto const rows = store().list_messages(filter).value();
        for (auto const& row : rows)
            out += std::to_string(row.key.from.number()) + "/" + std::to_string(row.key.seq) + " ";
        return out;
    };
    EXPECT_EQ(keys({.project = "acme"}), "3/1 1/7 1/5 1/2 ");
    EXPECT_EQ(keys({.project = "acme", .limit = 2}), "3/1 1/7 ");
    EXPECT_EQ(keys({.project = "acme", .before = port::OutboxKey{session(1), 7, 0}}), "1/5 1/2 ");
    EXPECT_EQ(keys({.project = "acme", .state = port::OutboxState::dead}), "1/5 ");
    EXPECT_EQ(keys({.project = "nobody"}), "");
    auto last = append(1, 9);
    last.erase = true;
    commit_one(last);
    EXPECT_EQ(keys({.project = "acme"}), "3/1 1/7 1/5 1/2 ") << "they outlive the session";
}

TEST_P(StoreConformance, OldDeliveredPosts_AreDropped) {
    auto first = create(1, "acme", 9);
    for (Seq const seq : {1, 2, 3}) first.outbox.push_back(outbox_row(1, seq, 0, "webhook", 0));
    commit_one(first);
    for (Seq const seq : {1, 2}) {
        port::OutboxUpdate done;
        done.key = first.outbox[seq - 1].key;
        done.state = port::OutboxState::delivered;
        done.delivered = at(static_cast<std::int64_t>(seq) * 10);
        ASSERT_TRUE(store().update_messages({&done, 1}));
    }
    ASSERT_TRUE(store().drop_delivered(at(20)));
    EXPECT_FALSE(store().outbox_message(first.outbox[0].key).value());
    EXPECT_TRUE(store().outbox_message(first.outbox[1].key).value());
    EXPECT_TRUE(store().outbox_message(first.outbox[2].key).value());
}

TEST_P(StoreConformance, OldGivenUpPosts_AreDropped) {
    auto first = create(1, "acme");
    for (Seq const seq : {1, 2, 3, 4}) first.outbox.push_back(outbox_row(1, seq, 0, "webhook", 0));
    commit_one(first);
    for (Seq const seq : {1, 2, 3}) {
        port::OutboxUpdate done;
        done.key = first.outbox[seq - 1].key;
        done.state = seq == 2 ? port::OutboxState::disabled : port::OutboxState::dead;
        done.next_at = first.outbox[0].created + Duration(static_cast<std::int64_t>(seq) * 10);
        ASSERT_TRUE(store().update_messages({&done, 1}));
    }
    Time const until = first.outbox[0].created + Duration(30);
    EXPECT_EQ(store().count_given_up(until, 10).value(), 2U);
    EXPECT_EQ(store().count_given_up(until, 1).value(), 1U);
    ASSERT_TRUE(store().drop_given_up(until, 1));
    EXPECT_EQ(store().count_given_up(until, 10).value(), 1U);
    ASSERT_TRUE(store().drop_given_up(until, 10));
    EXPECT_FALSE(store().outbox_message(first.outbox[0].key).value());
    EXPECT_FALSE(store().outbox_message(first.outbox[1].key).value());
    EXPECT_TRUE(store().outbox_message(first.outbox[2].key).value());
    EXPECT_TRUE(store().outbox_message(first.outbox[3].key).value());
}

}  // namespace dormouse::store
