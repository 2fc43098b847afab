#pragma once
// The tests that every store must pass. A test binary includes this file once and names its stores
// with INSTANTIATE_TEST_SUITE_P(Name, StoreConformance, …).

#include "store/memory/conformance_copies.h"
#include "store/memory/conformance_feed.h"
#include "store/memory/conformance_fixture.h"
#include "store/memory/conformance_forget.h"
#include "store/memory/conformance_lists.h"
#include "store/memory/conformance_rules.h"
#include "store/memory/conformance_sums.h"
#include "store/memory/conformance_tokens.h"
#include "store/memory/conformance_webhooks.h"

#include <array>
#include <thread>

namespace dormouse::store {

TEST_P(StoreConformance, Append_IsLoadedByteForByte) {
    auto first = create(1, "acme", 3);
    first.row->alias = "ops-1";
    first.row->title = "Ship \"4.2\"";
    first.frame.bytes = R"([["session_created",1,{"cwd":"ü\u0000"}]])";
    first.wake_at = at(50);
    commit_one(first);
    commit_one(append(1, 3, 2));

    auto const loaded = store().load(session(1)).value();
    ASSERT_TRUE(loaded.row);
    EXPECT_EQ(describe(*loaded.row), describe(*first.row));
    ASSERT_EQ(loaded.tail.size(), 2u);
    EXPECT_EQ(loaded.tail[0].bytes, first.frame.bytes);
    EXPECT_EQ(loaded.tail[0].count, 3u);
    EXPECT_EQ(loaded.tail[1].first, 4u);
    EXPECT_TRUE(loaded.wake_known);
    EXPECT_EQ(loaded.wake_at, std::nullopt) << "the second append cleared the wake-up";
}

TEST_P(StoreConformance, Append_StaleHead_FailsAlone) {
    commit_one(create(1, "acme", 2));
    std::vector<port::Append> const batch{create(2, "acme"), append(1, 1), append(1, 2, 3),
                                          append(1, 2), append(3, 7)};
    auto const results = store().commit(batch);
    EXPECT_TRUE(results[0]);
    EXPECT_TRUE(moved(results[1]));
    EXPECT_TRUE(results[2]);
    EXPECT_TRUE(moved(results[3])) << "the append before it changed the head";
    EXPECT_TRUE(moved(results[4])) << "no such session";
    EXPECT_EQ(store().load(session(1)).value().tail.size(), 2u);
    EXPECT_TRUE(store().load(session(2)).value().row);
}

TEST_P(StoreConformance, Append_OnAnotherFrame_FailsAlone) {
    auto const first = create(1, "acme", 2);
    commit_one(first);
    auto const stamp = port::stamp_of(session(1), first.frame);
    EXPECT_EQ(store().load(session(1)).value().stamp, stamp);
    auto other = first.frame;
    other.bytes += " ";
    auto late = append(1, 2);
    late.stamp = port::stamp_of(session(1), other);
    EXPECT_NE(late.stamp, stamp);
    auto const results = store().commit(std::array{late, create(2, "acme")});
    EXPECT_TRUE(moved(results[0])) << "the same head, with other events";
    EXPECT_TRUE(results[1]);
    late.stamp = stamp;
    EXPECT_EQ(store().commit({&late, 1})[0], port::stamp_of(session(1), late.frame));
    reopen();
    EXPECT_EQ(store().load(session(1)).value().stamp, port::stamp_of(session(1), late.frame));
}

TEST_P(StoreConformance, Stamp_IsThatOfTheNewestFrame_WhichASnapshotCovers) {
    commit_one(create(1, "acme"));
    auto second = append(1, 1, 2);
    second.snapshot = port::SnapshotRow{.seq = 3, .format = 7, .state = "state"};
    commit_one(second);
    auto const loaded = store().load(session(1)).value();
    EXPECT_TRUE(loaded.tail.empty());
    EXPECT_EQ(loaded.stamp, port::stamp_of(session(1), second.frame));
    auto third = append(1, 3);
    third.stamp = loaded.stamp;
    commit_one(third);
}

TEST_P(StoreConformance, Newest_IsWhereEachJournalEnds) {
    auto const first = create(1, "acme", 2);
    commit_one(first);
    commit_one(create(2, "acme"));
    auto const second = append(1, 2, 3);
    commit_one(second);
    auto end = append(2, 1);
    end.erase = true;
    commit_one(end);
    std::array const session_ids{session(1), session(2), session(3)};
    auto const found = store().newest(session_ids).value();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0], (port::NewestFrame{5, port::stamp_of(session(1), second.frame)}));
    EXPECT_EQ(found[1], port::NewestFrame{}) << "its events are gone";
    EXPECT_EQ(found[2], port::NewestFrame{});
}

TEST_P(StoreConformance, Results_AreInTheOrderOfTheAppends) {
    commit_one(create(5, "acme"));
    std::vector<port::Append> const batch{create(9, "acme"), create(5, "acme"), create(7, "acme"),
                                          append(5, 1)};
    auto const results = store().commit(batch);
    EXPECT_TRUE(results[0]);
    EXPECT_TRUE(moved(results[1])) << "number 5 is taken";
    EXPECT_TRUE(results[2]);
    EXPECT_TRUE(results[3]);
}

TEST_P(StoreConformance, Append_FailsHalfway_IsUndoneAndOthersStay) {
    auto first = create(2, "acme");
    first.keys = {{"taken", 1}};
    commit_one(first);
    auto second = append(2, 1);
    second.row = first.row;
    second.row->title = "never";
    second.wake_at = at(5);
    second.pending = {pause(1)};
    second.keys = {{"fresh", 2}, {"taken", 2}};
    std::vector<port::Append> const batch{create(1, "acme"), second, create(3, "acme")};
    auto const results = store().commit(batch);
    EXPECT_TRUE(results[0]);
    EXPECT_EQ(code(results[1]), Code::conflict);
    EXPECT_TRUE(results[2]);

    auto const loaded = store().load(session(2)).value();
    EXPECT_EQ(loaded.tail.size(), 1u);
    EXPECT_EQ(loaded.row->title, "");
    EXPECT_FALSE(loaded.wake_at);
    EXPECT_FALSE(store().pending(session(2), 1, 1).value());
    EXPECT_EQ(store().key_rows(session(2)).value(), (std::vector<port::KeyRow>{{"taken", 1}}));
    EXPECT_TRUE(store().load(session(1)).value().row);
    EXPECT_TRUE(store().load(session(3)).value().row);
}

TEST_P(StoreConformance, Key_WrittenTwice_IsAConflict) {
    auto first = create(1, "acme");
    first.keys = {{"receipt", 1}};
    commit_one(first);
    auto second = append(1, 1);
    second.keys = {{"receipt", 2}};
    EXPECT_EQ(code(store().commit({&second, 1})[0]), Code::conflict);
    auto twice = append(1, 1);
    twice.keys = {{"new", 2}, {"new", 2}};
    EXPECT_EQ(code(store().commit({&twice, 1})[0]), Code::conflict);
    EXPECT_EQ(store().key_rows(session(1)).value(), (std::vector<port::KeyRow>{{"receipt", 1}}));
}

TEST_P(StoreConformance, Snapshot_ShortensTheTail) {
    commit_one(create(1, "acme", 3));
    auto second = append(1, 3, 2);
    second.snapshot = port::SnapshotRow{.seq = 5, .format = 7, .state = std::string("\0state", 6)};
    commit_one(second);
    EXPECT_TRUE(store().load(session(1)).value().tail.empty());
    commit_one(append(1, 5, 2));
    auto loaded = store().load(session(1)).value();
    ASSERT_TRUE(loaded.snapshot);
    EXPECT_EQ(loaded.snapshot->seq, 5u);
    EXPECT_EQ(loaded.snapshot->format, 7u);
    EXPECT_EQ(loaded.snapshot->state, std::string("\0state", 6));
    ASSERT_EQ(loaded.tail.size(), 1u);
    EXPECT_EQ(loaded.tail[0].first, 6u);

    auto third = append(1, 7, 2);
    third.snapshot = port::SnapshotRow{.seq = 6, .format = 8, .state = "later"};
    commit_one(third);
    loaded = store().load(session(1)).value();
    EXPECT_EQ(loaded.snapshot->state, "later");
    ASSERT_EQ(loaded.tail.size(), 2u) << "the tail includes the frame in which the snapshot ends";
    EXPECT_EQ(loaded.tail[0].first, 6u);
    EXPECT_EQ(store().page(session(1), 1, 1'000'000).value().size(), 4u)
        << "the journal stays complete";
}

// Also sessions that are larger than what a store reads of several at once.
TEST_P(StoreConformance, LoadEach_IsLoadOfEach) {
    commit_one(create(1, "acme"));
    commit_one(create(2, "acme", 3));
    auto second = append(2, 3, 2);
    second.snapshot = port::SnapshotRow{.seq = 5, .format = 7, .state = std::string("\0state", 6)};
    second.pending = {pause(1)};
    second.wake_at = at(5);
    commit_one(second);
    commit_one(append(2, 5));
    commit_one(create(4, "acme"));
    for (Seq after = 1; after < 100; ++after) commit_one(append(4, after));
    auto large = create(5, "acme");
    large.frame.bytes.append(100'000, ' ');
    commit_one(large);
    auto covered = create(6, "acme");
    covered.snapshot = port::SnapshotRow{.seq = 1, .format = 7, .state = std::string(100'000, 's')};
    commit_one(covered);
    auto end = append(1, 1);
    end.erase = true;
    commit_one(end);
    SessionId const other = SessionId::make(2, {});
    std::array const session_ids{session(5), session(2), session(3), other,
                                 session(1), session(4), session(6), session(2)};
    auto const found = port::load_each(store(), session_ids);
    ASSERT_EQ(found.size(), session_ids.size());
    for (std::size_t i = 0; i < session_ids.size(); ++i)
        EXPECT_EQ(describe(found[i].value()), describe(store().load(session_ids[i]).value())) << i;
    EXPECT_FALSE(found[2]->row) << "it never existed";
    EXPECT_FALSE(found[3]->row) << "another session has its number";
    EXPECT_EQ(found[5]->tail.size(), 100U);
    EXPECT_TRUE(port::load_each(store(), {}).empty());
}

TEST_P(StoreConformance, LoadEach_BaseReplacesTheOldestFrames) {
    commit_one(create(1, "acme", 3));
    auto cut = append(1, 3);
    cut.base = port::BaseRow{{1, 3, "[what stays]"}, 2, 0, "", {}};
    commit_one(cut);
    std::array const session_ids{session(1)};
    auto const found = port::load_each(store(), session_ids);
    EXPECT_EQ(describe(found[0].value()), describe(store().load(session(1)).value()));
    EXPECT_FALSE(found[0]->tail.empty());
}

TEST_P(StoreConformance, Page_BeginsWithTheEventsFrameAndEndsAtItsSize) {
    commit_one(create(1, "acme", 3));
    for (Seq after = 3; after < 12; after += 3) commit_one(append(1, after, 3));
    auto const size = store().page(session(1), 1, 1).value().at(0).bytes.size();
    auto const firsts = [&](Seq from, std::size_t max_bytes) {
        std::vector<Seq> seqs;
        auto const frames = store().page(session(1), from, max_bytes).value();
        for (auto const& frame : frames) seqs.push_back(frame.first);
        return seqs;
    };
    EXPECT_EQ(firsts(1, 1'000'000), (std::vector<Seq>{1, 4, 7, 10}));
    EXPECT_EQ(firsts(6, 1'000'000), (std::vector<Seq>{4, 7, 10}));
    EXPECT_EQ(firsts(7, 0), std::vector<Seq>{7}) << "at least one frame, for any page size";
    EXPECT_EQ(firsts(7, size), std::vector<Seq>{7});
    EXPECT_EQ(firsts(1, size + 1), (std::vector<Seq>{1, 4}));
    EXPECT_TRUE(firsts(13, 1000).empty());
    EXPECT_TRUE(firsts(Seq{1} << 50, 1000).empty());
}

// The frames hold events 1-3, 4-6, 7-9 and 10; everything up to 5 is erased.
TEST_P(StoreConformance, Base_ReplacesTheOldestFrames) {
    commit_one(create(1, "acme", 3));
    auto second = append(1, 3, 3);
    second.pending = {pause(1), pause(2), pause(3)};
    for (auto& row : second.pending) row.paused = 4;
    second.pending[0].settled = 5;
    second.pending[1].settled = 6;
    EXPECT_EQ(store().load(session(1)).value().named, 0U) << "it has no pause";
    second.keys = {{"iold", 4}, {"p1.1.x", 4}, {"pnew", 6}};
    second.artifacts = {{4, std::make_shared<std::string>("gone")},
                        {5, std::make_shared<std::string>("kept")},
                        {6, std::make_shared<std::string>("new")}};
    second.secrets = {{1, 1, "old"}, {2, 1, "new"}};
    commit_one(second);
    EXPECT_EQ(store().load(session(1)).value().named, 4U) << "by the newest pause";
    commit_one(append(1, 6, 3));
    auto cut = append(1, 9, 1);
    cut.base = port::BaseRow{{4, 3, "[what stays]"}, 5, 1, "pn", {5}};
    commit_one(cut);

    for (auto const& frames :
         {store().page(session(1), 1, 1'000'000).value(), store().load(session(1)).value().tail}) {
        ASSERT_EQ(frames.size(), 3u);
        EXPECT_EQ(frames[0].first, 4u);
        EXPECT_EQ(frames[0].count, 3u);
        EXPECT_EQ(frames[0].bytes, "[what stays]");
        EXPECT_EQ(frames[1].first, 7u);
    }
    EXPECT_EQ(store().page(session(1), 6, 1).value().at(0).first, 4u);
    EXPECT_EQ(store().page(session(1), 2, 1).value().at(0).first, 4u);
    EXPECT_FALSE(store().pending(session(1), 1, 1).value());
    EXPECT_TRUE(store().pending(session(1), 2, 1).value());
    EXPECT_TRUE(store().pending(session(1), 3, 1).value());
    std::vector<std::string> const keys{"iold", "p1.1.x", "pnew"};
    EXPECT_EQ(store().lookup(session(1), keys).value(), (std::vector<Seq>{4, 0, 6}));
    EXPECT_FALSE(store().artifact(session(1), 4).value());
    EXPECT_EQ(store().artifact(session(1), 5).value(), "kept");
    EXPECT_EQ(store().artifact(session(1), 6).value(), "new");
    EXPECT_FALSE(store().secret(session(1), 1, 1).value());
    EXPECT_EQ(store().secret(session(1), 2, 1).value(), "new");
    EXPECT_EQ(store().heads(0, 10).value(), (std::vector<port::SessionHead>{{session(1), 10}}));
    EXPECT_TRUE(store().heads(1, 10).value().empty());
    commit_one(append(1, 10, 1));
}

// The frames hold events 1-3, 4-6 and 7.
TEST_P(StoreConformance, Rewrite_ReplacesFramesAndRemovesWhatBelongsToThem) {
    commit_one(create(1, "acme", 3));
    auto second = append(1, 3, 3);
    second.artifacts = {{4, std::make_shared<std::string>("secret")},
                        {5, std::make_shared<std::string>("other")}};
    for (auto const& [seq, n] : {std::pair{4, 1}, std::pair{4, 2}, std::pair{5, 1}})
        second.outbox.push_back(
            outbox_row(1, static_cast<Seq>(seq), static_cast<std::uint32_t>(n), "webhook", 5));
    commit_one(second);
    auto redact = append(1, 6, 1);
    redact.stamp = store().load(session(1)).value().stamp;
    redact.rewrite = port::Rewrite{
        {{4, 3, "[placeholder]"}}, {4}, {{session(1), 4, 1}, {session(1), 4, 7}}, {1}};
    redact.snapshot = port::SnapshotRow{7, 1, "state"};
    commit_one(redact);

    auto const frames = store().page(session(1), 1, 1'000'000).value();
    ASSERT_EQ(frames.size(), 3u);
    EXPECT_EQ(frames[1].first, 4u);
    EXPECT_EQ(frames[1].count, 3u);
    EXPECT_EQ(frames[1].bytes, "[placeholder]");
    EXPECT_EQ(frames[2].bytes, redact.frame.bytes);
    EXPECT_FALSE(store().artifact(session(1), 4).value());
    EXPECT_EQ(store().artifact(session(1), 5).value(), "other");
    EXPECT_FALSE(store().outbox_message({session(1), 4, 1}).value());
    EXPECT_TRUE(store().outbox_message({session(1), 4, 2}).value());
    EXPECT_TRUE(store().outbox_message({session(1), 5, 1}).value());
    // An append that was decided before the redaction fails; a later one succeeds.
    EXPECT_EQ(store().load(session(1)).value().snapshot->seq, 7u);
    EXPECT_TRUE(moved(store().commit({&redact, 1}).at(0)));
    commit_one(append(1, 7, 1));
}

TEST_P(StoreConformance, RowsRewrittenAfterAnEvent_OlderOnesStay) {
    commit_one(create(1, "acme", 3));
    auto second = append(1, 3, 3);
    second.pending = {pause(1), pause(2)};
    second.pending[0].paused = 4;
    second.pending[1].paused = 6;
    second.keys = {{"iold", 4}, {"inew", 6}};
    commit_one(second);
    auto rebuilt = append(1, 6, 1);
    rebuilt.rows_rebuilt = true;
    rebuilt.rebuilt_after = 5;
    rebuilt.keys = {{"inew", 5}};
    commit_one(rebuilt);
    EXPECT_TRUE(store().pending(session(1), 1, 1).value());
    EXPECT_FALSE(store().pending(session(1), 2, 1).value());
    std::vector<std::string> const keys{"iold", "inew"};
    EXPECT_EQ(store().lookup(session(1), keys).value(), (std::vector<Seq>{4, 5}));
}

TEST_P(StoreConformance, ErasedSession_KeepsItsRowAndCreateKey) {
    auto first = create(1, "acme");
    first.row->alias = "ops-1";
    first.row->title = "the password is hunter2";
    first.create_key = Bits128{9};
    first.wake_at = at(5);
    first.pending = {pause(1)};
    first.keys = {{"k", 1}};
    first.snapshot = port::SnapshotRow{.seq = 1, .format = 1, .state = "s"};
    commit_one(first);
    commit_one(create(2, "acme"));
    auto last = append(1, 1);
    last.erase = true;
    last.row = first.row;
    last.row->status = "deleted";
    commit_one(last);

    auto const loaded = store().load(session(1)).value();
    ASSERT_TRUE(loaded.row);
    EXPECT_EQ(loaded.row->status, "deleted");
    EXPECT_EQ(loaded.row->title, "");
    EXPECT_EQ(loaded.row->alias, "");
    EXPECT_TRUE(loaded.tail.empty());
    EXPECT_FALSE(loaded.snapshot);
    EXPECT_FALSE(loaded.wake_at);
    EXPECT_EQ(store().next_due().value(), std::nullopt);
    EXPECT_TRUE(store().pending_rows(session(1)).value().empty());
    EXPECT_TRUE(store().key_rows(session(1)).value().empty());
    EXPECT_EQ(listed({.project = "acme"}), "");
    EXPECT_EQ(store().find_created(Bits128{9}).value(), session(1));
    EXPECT_EQ(numbers(store().sessions("acme", 0, 10).value()), (std::vector<std::uint64_t>{2}));
    EXPECT_EQ(numbers(store().all_sessions(0, 10).value()), (std::vector<std::uint64_t>{1, 2}));
    for (Seq const after : {0, 1, 2}) {
        auto const late = after == 0 ? create(1, "acme") : append(1, after);
        EXPECT_TRUE(moved(store().commit({&late, 1})[0])) << after;
    }
    EXPECT_EQ(store().load(session(2)).value().tail.size(), 1u);
}

TEST_P(StoreConformance, SessionRow_IsChangedByALaterAppend) {
    auto const first = create(1, "acme");
    commit_one(first);
    auto second = append(1, 1);
    second.row = first.row;
    second.row->alias = "nick";
    second.row->agent = "claude";
    second.row->status = "paused";
    second.row->updated = at(1000);
    second.row->turn = port::TurnState::failed;
    commit_one(second);
    EXPECT_EQ(describe(*store().load(session(1)).value().row), describe(*second.row));
}

TEST_P(StoreConformance, FirstAppend_NeedsTheRow) {
    auto first = create(1, "acme");
    first.row.reset();
    EXPECT_EQ(code(store().commit({&first, 1})[0]), Code::internal);
    EXPECT_FALSE(store().load(session(1)).value().row);
}

TEST_P(StoreConformance, Journal_TwoToThe24Events_IsFull) {
    auto first = create(1, "acme", (1u << 24) - 2);
    commit_one(first);
    auto const over = append(1, (1u << 24) - 2, 2);
    EXPECT_EQ(code(store().commit({&over, 1})[0]), Code::too_large);
    commit_one(append(1, (1u << 24) - 2, 1));
    auto const beyond = append(1, (1u << 24) - 1, 1);
    EXPECT_EQ(code(store().commit({&beyond, 1})[0]), Code::too_large);
}

TEST_P(StoreConformance, Frame_MayBeLarge) {
    auto first = create(1, "acme");
    first.frame.bytes = "[\"" + std::string(5'000'000, 'x') + "\"]";
    commit_one(first);
    EXPECT_EQ(store().load(session(1)).value().tail.at(0).bytes, first.frame.bytes);
}

TEST_P(StoreConformance, EmptyBatch_Succeeds) {
    EXPECT_TRUE(store().commit({}).empty());
    EXPECT_TRUE(store().ping());
}

TEST_P(StoreConformance, Reopen_KeepsAllDataAndIncrementsEpoch) {
    EXPECT_EQ(store().epoch(), 1u);
    EXPECT_EQ(store().next_session_number(), 1u);
    fill_pending();
    auto const before = everything(store());
    EXPECT_EQ(store().next_session_number(), 4u);
    reopen();
    EXPECT_EQ(store().epoch(), 2u);
    EXPECT_EQ(store().next_session_number(), 4u);
    EXPECT_EQ(everything(store()), before);
    commit_one(append(1, 9));
    reopen();
    EXPECT_EQ(store().epoch(), 3u);
    EXPECT_EQ(store().load(session(1)).value().tail.size(), 2u);
}

TEST_P(StoreConformance, Commit_IsVisibleToAnotherThread) {
    commit_one(create(1, "acme"));
    std::jthread const writer([&] {
        for (Seq after = 1; after < 200; ++after) commit_one(append(1, after));
    });
    Seq head = 0;
    while (head < 200) {
        auto const tail = store().load(session(1)).value().tail;
        Seq expected = 1;
        for (auto const& frame : tail) EXPECT_EQ(frame.first, expected++);
        EXPECT_GE(tail.size(), head) << "the head never goes back";
        head = tail.size();
    }
}

}  // namespace dormouse::store
