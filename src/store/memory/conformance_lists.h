#pragma once
// Conformance: queries by key, time, project and page. Included by conformance.h.

#include "store/memory/conformance_fixture.h"

namespace dormouse::store {

TEST_P(StoreConformance, UnknownSession_LoadsAsNothing) {
    auto const loaded = store().load(session(1)).value();
    EXPECT_FALSE(loaded.row);
    EXPECT_FALSE(loaded.wake_known);
    EXPECT_TRUE(loaded.tail.empty());
    EXPECT_TRUE(store().page(session(1), 1, 1000).value().empty());
    EXPECT_EQ(store().lookup(session(1), std::vector<std::string>{"a"}).value(),
              std::vector<Seq>{0});
    EXPECT_FALSE(store().pending(session(1), 1, 1).value());
    EXPECT_TRUE(store().pending_rows(session(1)).value().empty());
    EXPECT_TRUE(store().key_rows(session(1)).value().empty());
}

TEST_P(StoreConformance, Keys_AreLookedUpInOrder_MissingOneIsZero) {
    auto first = create(1, "acme", 9);
    std::string const binary("\0\xff", 2);
    first.keys = {{"b", 2}, {"a", 9}, {binary, 4}};
    commit_one(first);
    commit_one(create(2, "acme"));
    auto const seqs =
        store().lookup(session(1), std::vector<std::string>{"b", "none", binary, "a"}).value();
    EXPECT_EQ(seqs, (std::vector<Seq>{2, 0, 4, 9}));
    EXPECT_EQ(store().lookup(session(2), std::vector<std::string>{"a"}).value(),
              std::vector<Seq>{0});
    EXPECT_EQ(store().key_rows(session(1)).value(),
              (std::vector<port::KeyRow>{{binary, 4}, {"a", 9}, {"b", 2}}));
}

TEST_P(StoreConformance, OutboxMessages_ComeByTimeAndKeyForEachKind) {
    auto first = create(2, "acme", 3);
    first.outbox = {outbox_row(2, 3, 0, "session", 5), outbox_row(2, 1, 1, "session", 5),
                    outbox_row(2, 1, 0, "session", 5), outbox_row(2, 2, 0, "webhook", 1)};
    commit_one(first);
    auto second = create(1, "acme", 1);
    second.outbox = {outbox_row(1, 1, 0, "session", 6), outbox_row(1, 1, 1, "session", 9)};
    commit_one(second);
    auto const due = store().due_messages("session", at(8), 10).value();
    EXPECT_EQ(due, (std::vector<port::OutboxRow>{first.outbox[2], first.outbox[1], first.outbox[0],
                                                 second.outbox[0]}));
    EXPECT_EQ(store().due_messages("session", at(8), 2).value().size(), 2u);
    EXPECT_TRUE(store().due_messages("webhook", at(0), 10).value().empty());
    EXPECT_EQ(store().outbox_message(first.outbox[3].key).value(), first.outbox[3]);
    EXPECT_FALSE(store().outbox_message({session(3), 2, 0}).value());
}

TEST_P(StoreConformance, OutboxMessages_ManyForOneReceiver_HideNoOther) {
    auto first = create(2, "acme", 3);
    for (std::uint32_t n = 0; n < 9; ++n) {
        first.outbox.push_back(outbox_row(2, 1, n, "webhook", 5));
        first.outbox.back().target = "https://busy";
    }
    first.outbox.push_back(outbox_row(2, 2, 0, "webhook", 6));
    first.outbox.back().target = "https://quiet";
    first.outbox.push_back(outbox_row(2, 2, 1, "webhook", 90));
    first.outbox.back().target = "https://later";
    first.outbox.push_back(outbox_row(2, 2, 2, "session", 1));
    commit_one(first);
    auto const named = [](port::OutboxRow const& row) {
        return port::DueMessage{row.key, row.target, row.attempts};
    };
    std::vector<port::DueMessage> const busy{named(first.outbox[0]), named(first.outbox[1])};
    EXPECT_EQ(store().due_by_target(at(8), "", 2, 100).value(),
              (std::vector<port::DueMessage>{busy[0], busy[1], named(first.outbox[9])}));
    EXPECT_EQ(store().due_by_target(at(8), "", 2, 2).value(), busy);
    EXPECT_EQ(store().due_by_target(at(8), "https://busy", 2, 100).value(),
              std::vector<port::DueMessage>{named(first.outbox[9])});
    EXPECT_TRUE(store().due_by_target(at(4), "", 2, 100).value().empty());
}

TEST_P(StoreConformance, TakenPost_IsRemovedWithTheAppend) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "session", 0), outbox_row(1, 1, 1, "session", 0)};
    commit_one(first);
    auto taker = create(2, "acme");
    taker.taken = {first.outbox[0].key};
    commit_one(taker);
    EXPECT_EQ(store().due_messages("session", at(0), 10).value(),
              (std::vector<port::OutboxRow>{first.outbox[1]}));
    auto refused = append(2, 7);  // the session is missing
    refused.taken = {first.outbox[1].key};
    EXPECT_FALSE(store().commit({&refused, 1})[0]);
    EXPECT_TRUE(store().outbox_message(first.outbox[1].key).value());
}

// A query finds either the outbox message or the append that took it, so its fate is always known.
TEST_P(StoreConformance, TakenPost_IsNotFoundEvenIfItsTakerIsDeleted) {
    auto first = create(1, "acme");
    for (std::uint32_t n = 0; n < 4; ++n) first.outbox.push_back(outbox_row(1, 1, n, "session", 0));
    commit_one(first);
    auto const stored = [&] {
        std::string out;
        for (auto const& row : first.outbox)
            out += store().outbox_message(row.key).value() ? 'y' : 'n';
        return out;
    };
    auto taker = create(2, "acme");
    taker.taken = {first.outbox[0].key};
    commit_one(taker);
    EXPECT_EQ(stored(), "nyyy");
    auto deleted = append(2, 1);  // takes a message and deletes its session
    deleted.taken = {first.outbox[1].key};
    deleted.erase = true;
    commit_one(deleted);
    EXPECT_EQ(stored(), "nnyy");
    auto sender = append(1, 1);  // receives a message and is deleted
    sender.taken = {first.outbox[2].key};
    sender.erase = true;
    commit_one(sender);
    EXPECT_EQ(stored(), "nnny");
    reopen();
    EXPECT_EQ(stored(), "nnny") << "it outlives its sender";
}

TEST_P(StoreConformance, TakenPost_OfARefusedAppend_Stays) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "session", 0)};
    commit_one(first);
    commit_one(create(2, "acme"));
    auto stale = append(2, 7);
    stale.taken = {first.outbox[0].key};
    auto other = append(1, 1);
    std::vector<port::Append> const both{stale, other};
    auto const results = store().commit(both);
    EXPECT_FALSE(results[0]);
    EXPECT_TRUE(results[1]) << "the others of the batch are written";
    EXPECT_EQ(store().outbox_message(first.outbox[0].key).value(), first.outbox[0]);
}

TEST_P(StoreConformance, OutboxMessages_OutliveTheirSender) {
    auto first = create(1, "acme");
    commit_one(first);
    auto last = append(1, 1);
    last.erase = true;
    last.outbox = {outbox_row(1, 2, 0, "session", 0)};
    commit_one(last);
    EXPECT_EQ(store().due_messages("session", at(0), 10).value(), last.outbox);
}

TEST_P(StoreConformance, OutboxUpdate_IsKeptOrRemovesTheMessage) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "webhook", 0), outbox_row(1, 1, 1, "webhook", 0)};
    commit_one(first);
    port::OutboxUpdate tried;
    tried.key = first.outbox[0].key;
    tried.attempts = 2;
    tried.next_at = at(40);
    tried.last_status = 503;
    tried.last_error = "busy";
    port::OutboxUpdate gone;
    gone.key = first.outbox[1].key;
    gone.gone = true;
    port::OutboxUpdate unknown;
    unknown.key = {session(9), 1, 0};
    std::vector<port::OutboxUpdate> const updates{tried, gone, unknown};
    ASSERT_TRUE(store().update_messages(updates));
    auto kept = first.outbox[0];
    kept.attempts = 2;
    kept.next_at = at(40);
    kept.last_status = 503;
    kept.last_error = "busy";
    EXPECT_EQ(store().outbox_message(tried.key).value(), kept);
    EXPECT_FALSE(store().outbox_message(gone.key).value());
    tried.state = port::OutboxState::delivered;
    tried.delivered = at(50);
    ASSERT_TRUE(store().update_messages({&tried, 1}));
    EXPECT_TRUE(store().due_messages("webhook", at(99), 9).value().empty());
    EXPECT_EQ(store().outbox_message(tried.key).value()->delivered, at(50));
}

TEST_P(StoreConformance, SessionNumber_UsedByAPost_IsNotReused) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "session", 0)};
    first.outbox[0].makes = session(77);
    commit_one(first);
    EXPECT_EQ(store().next_session_number(), 78u);
    reopen();
    EXPECT_EQ(store().next_session_number(), 78u);
    EXPECT_EQ(store().outbox_message(first.outbox[0].key).value(), first.outbox[0]);
}

TEST_P(StoreConformance, Alias_HasOneLiveSessionOfItsProject) {
    auto const named = [](std::uint64_t number, std::string const& project) {
        auto out = create(number, project);
        out.row->alias = "ops";
        out.claims_alias = true;
        return out;
    };
    std::vector<port::Append> const racing{named(2, "acme"), named(1, "acme"), named(3, "other")};
    auto const results = store().commit(racing);
    EXPECT_EQ(results[0].error().code, Code::alias_taken) << "the smaller number is written first";
    EXPECT_TRUE(results[1] && results[2]);
    EXPECT_FALSE(store().load(session(2)).value().row) << "only this append fails, and completely";
    auto const found = store().aliases("acme", "ops", 9).value();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, session(1));
    EXPECT_TRUE(store().aliases("acme", "op", 9).value().empty());
    EXPECT_TRUE(store().aliases("nobody", "", 9).value().empty());

    auto again = append(1, 1);
    again.row = racing[1].row;
    again.claims_alias = true;
    commit_one(again);  // its own alias is not a conflict
    auto ended = append(1, 2);
    ended.row = racing[1].row;
    ended.row->status = "completed";
    commit_one(ended);
    EXPECT_TRUE(store().aliases("acme", "", 9).value().empty());
    commit_one(named(4, "acme"));
    EXPECT_EQ(store().aliases("acme", "", 9).value().at(0).id, session(4));
}

TEST_P(StoreConformance, Alias_OfASessionThatMayContinue_IsNotFree) {
    std::uint64_t number = 0;
    for (std::string const status : {"active", "paused", "error", "completed", "deleted"}) {
        auto holder = create(++number, "acme");
        holder.row->alias = "as-" + status;
        holder.row->status = status;
        holder.claims_alias = true;
        commit_one(holder);
        auto other = create(++number, "acme");
        other.row->alias = holder.row->alias;
        other.claims_alias = true;
        auto const result = store().commit({&other, 1})[0];
        bool const free = status == "completed" || status == "deleted";
        EXPECT_EQ(result.has_value(), free) << status;
        if (!free) {
            EXPECT_EQ(result.error().code, Code::alias_taken) << status;
        }
    }
}

TEST_P(StoreConformance, DueSessions_ComeByTimeThenNumberInPages) {
    std::vector<port::Append> batch;
    for (std::uint64_t number = 1; number <= 9; ++number) {
        batch.push_back(create(number, "acme"));
        batch.back().wake_at = at(number <= 6 ? 20 : 10);
    }
    batch[8].wake_at = at(30);
    batch[4].wake_at = std::nullopt;
    auto const results = store().commit(batch);
    for (auto const& result : results) ASSERT_TRUE(result);

    EXPECT_EQ(store().next_due().value(), at(10));
    EXPECT_TRUE(store().due(at(9), std::nullopt, 10).value().empty());
    std::vector<std::uint64_t> seen;
    std::optional<port::Due> last;
    for (;;) {
        auto const page = store().due(at(20), last, 2).value();
        if (page.empty()) break;
        ASSERT_LE(page.size(), 2u);
        for (auto const& due : page) seen.push_back(due.session.number());
        last = page.back();
    }
    EXPECT_EQ(seen, (std::vector<std::uint64_t>{7, 8, 1, 2, 3, 4, 6}));
    EXPECT_EQ(store().due(at(30), last, 9).value().at(0).session, session(9));
}

TEST_P(StoreConformance, WakeUp_StaysUnlessTheAppendChangesIt) {
    auto first = create(1, "acme");
    first.wake_at = at(7);
    commit_one(first);
    auto second = append(1, 1);
    second.wake_changed = false;
    commit_one(second);
    EXPECT_EQ(store().load(session(1)).value().wake_at, at(7));
    auto third = append(1, 2);
    third.wake_at = at(3);
    commit_one(third);
    EXPECT_EQ(store().next_due().value(), at(3));
    commit_one(append(1, 3));
    EXPECT_EQ(store().next_due().value(), std::nullopt);
}

TEST_P(StoreConformance, PendingRow_IsReplacedByCallAndGeneration) {
    auto first = create(1, "acme", 5);
    first.pending = {pause(1), pause(2)};
    first.pending[0].timeout = at(99);
    commit_one(first);
    EXPECT_EQ(store().pending(session(1), 1, 1).value(), first.pending[0]);
    auto second = append(1, 5);
    second.pending = {first.pending[0], pause(1, 2)};
    second.pending[0].status = port::PendingStatus::completed;
    second.pending[0].settled = 6;
    commit_one(second);
    EXPECT_EQ(
        store().pending_rows(session(1)).value(),
        (std::vector<port::PendingRow>{second.pending[0], second.pending[1], first.pending[1]}));
    EXPECT_FALSE(store().pending(session(1), 3, 1).value());
}

TEST_P(StoreConformance, WaitingCalls_AreCountedUpToALimit) {
    EXPECT_EQ(store().open_pending(10).value(), port::OpenPending());
    fill_pending();
    Time const created = pause(1).created;
    EXPECT_EQ(store().open_pending(10).value(), (port::OpenPending{4, created}));
    EXPECT_EQ(store().open_pending(3).value(), (port::OpenPending{3, created}));
    auto later = create(9, "acme");
    later.pending = {pause(1)};
    later.pending[0].created = created - Duration(5);
    commit_one(later);
    EXPECT_EQ(store().open_pending(10).value(), (port::OpenPending{5, created - Duration(5)}));
}

TEST_P(StoreConformance, WaitingCallsOfAProject_AreCountedUpToALimit) {
    EXPECT_EQ(store().count_waiting("acme", 10).value(), 0U);
    auto first = create(9, "acme");
    first.pending = {pause(1), pause(2)};
    auto other = create(10, "other");
    other.pending = {pause(1)};
    commit_one(first);
    commit_one(other);
    EXPECT_EQ(store().count_waiting("acme", 10).value(), 2U);
    EXPECT_EQ(store().count_waiting("acme", 1).value(), 1U);
    EXPECT_EQ(store().count_waiting("unknown", 10).value(), 0U);
}

TEST_P(StoreConformance, WaitingSessions_AreListedOnceUpToALimitOfCalls) {
    EXPECT_TRUE(store().waiting_sessions({}, 10).value().empty());
    fill_pending();
    auto const all = store().waiting_sessions({}, 10).value();
    EXPECT_GT(all.size(), 1U);
    EXPECT_LT(all.size(), 4U);  // of the four calls, two belong to one session
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    for (SessionId const& one : all) {
        auto const rows = store().pending_rows(one).value();
        EXPECT_TRUE(std::ranges::any_of(rows, [](port::PendingRow const& row) {
            return row.status == port::PendingStatus::waiting;
        }));
    }
    EXPECT_EQ(store().waiting_sessions({}, 1).value().size(), 1U);
    std::vector<SessionId> paged;
    for (std::optional<SessionId> after;;) {
        auto const page = store().waiting_sessions(after, 2).value();
        if (page.empty()) break;
        paged.insert(paged.end(), page.begin(), page.end());
        after = page.back();
    }
    EXPECT_EQ(paged, all);
}

TEST_P(StoreConformance, PendingList_FiltersByStatusToolSessionAndProject) {
    fill_pending();
    port::PendingFilter filter{.project = "acme"};
    EXPECT_EQ(listed(filter), "3/1/1 3/1/0 1/3/1 1/2/1 1/1/2 1/1/1");
    filter.statuses = {port::PendingStatus::waiting};
    EXPECT_EQ(listed(filter), "3/1/1 1/3/1 1/1/2");
    filter.tool = "approve";
    EXPECT_EQ(listed(filter), "1/3/1");
    filter.statuses = {port::PendingStatus::completed, port::PendingStatus::waiting};
    EXPECT_EQ(listed(filter), "1/3/1 1/2/1");
    filter = {.project = "acme", .session = session(1)};
    EXPECT_EQ(listed(filter), "1/3/1 1/2/1 1/1/2 1/1/1");
    filter = {.project = "other", .session = session(1)};
    EXPECT_EQ(listed(filter), "") << "a session of another project is unknown";
    filter = {.project = "other"};
    EXPECT_EQ(listed(filter), "2/1/1");
    filter = {.project = "nobody"};
    EXPECT_EQ(listed(filter), "");
    filter = {.project = "acme", .tool = "nothing"};
    EXPECT_EQ(listed(filter), "");
}

TEST_P(StoreConformance, PendingList_SeveralProjects_IsOneListInOrder) {
    fill_pending();
    port::PendingFilter filter{.project = port::Projects::all()};
    EXPECT_EQ(listed(filter), "3/1/1 3/1/0 2/1/1 1/3/1 1/2/1 1/1/2 1/1/1");
    filter.project = port::Projects::of({"other", "acme", "nobody"});
    EXPECT_EQ(listed(filter), "3/1/1 3/1/0 2/1/1 1/3/1 1/2/1 1/1/2 1/1/1");
    filter.statuses = {port::PendingStatus::waiting};
    filter.limit = 3;
    EXPECT_EQ(listed(filter), "3/1/1 2/1/1 1/3/1");
    filter.before = PendingId{session(2), 1, 1, {}};
    EXPECT_EQ(listed(filter), "1/3/1 1/1/2");
    filter = {.project = port::Projects::of({}), .limit = 3};
    EXPECT_EQ(listed(filter), "") << "no project";
    filter = {.project = port::Projects::all(), .session = session(2)};
    EXPECT_EQ(listed(filter), "2/1/1");
}

TEST_P(StoreConformance, Projects_AreThoseWithSessionsEachOnce) {
    EXPECT_TRUE(store().projects("", 10).value().empty());
    for (std::uint64_t number = 1; number <= 9; ++number)
        commit_one(create(number, "p" + std::to_string(number % 3)));
    auto const gone = create(10, "gone");
    commit_one(gone);
    auto deletion = append(10, 1);
    deletion.erase = true;
    deletion.row = gone.row;
    deletion.row->status = "deleted";
    commit_one(deletion);
    auto all = store().projects("", 10).value();
    std::vector<std::string> pages;
    for (std::string after;;) {
        auto const page = store().projects(after, 1).value();
        if (page.empty()) break;
        ASSERT_EQ(page.size(), 1u);
        pages.push_back(after = page.front());
    }
    EXPECT_EQ(pages, all);
    std::ranges::sort(all);
    EXPECT_EQ(all, (std::vector<std::string>{"p0", "p1", "p2"}));
}

TEST_P(StoreConformance, SessionCounts_AreOfTheProjectAndBounded) {
    fill_pending();
    EXPECT_EQ(store().session_counts("nobody", 10).value(), port::SessionCounts{});
    for (std::uint64_t number = 10; number < 14; ++number) {
        auto one = create(number, "acme");
        one.row->status = number < 12 ? "completed" : number == 12 ? "paused" : "error";
        commit_one(one);
    }
    auto const counts = store().session_counts("acme", 10).value();
    EXPECT_EQ(counts, (port::SessionCounts{6, 2, 1, 1, 2, 0, 0}));
    EXPECT_EQ(store().session_counts("acme", 1).value(),
              (port::SessionCounts{1, 1, 1, 1, 1, 0, 0}));
    EXPECT_EQ(store().session_counts("other", 10).value(),
              (port::SessionCounts{1, 1, 0, 0, 0, 0, 0}));
}

TEST_P(StoreConformance, SessionsInError_AreThoseOfTheProject) {
    EXPECT_TRUE(store().sessions_in_error("acme", 10).value().empty());
    for (std::uint64_t number = 1; number < 7; ++number) {
        auto one = create(number, number == 6 ? "other" : "acme");
        one.row->status = number == 1 ? "active" : number == 2 ? "completed" : "error";
        commit_one(one);
    }
    auto const found = [this](std::uint32_t limit) {
        auto const all = store().sessions_in_error("acme", limit).value();
        return std::set(all.begin(), all.end());
    };
    EXPECT_EQ(found(10), (std::set{session(3), session(4), session(5)}));
    EXPECT_EQ(found(2).size(), 2U);
    auto again = append(3, 1);
    again.row = create(3, "acme").row;
    commit_one(again);
    auto gone = append(4, 1);
    gone.erase = true;
    commit_one(gone);
    EXPECT_EQ(found(10), (std::set{session(5)}));
}

TEST_P(StoreConformance, SessionCounts_FollowTheTurnsOfTheRows) {
    using port::TurnState;
    auto const counts = [this](std::uint32_t most) {
        auto const found = store().session_counts("acme", most).value();
        return std::pair(found.running, found.failed);
    };
    auto const move = [this](std::uint64_t number, Seq after, TurnState turn) {
        auto one = after == 0 ? create(number, "acme") : append(number, after);
        one.row = create(number, "acme").row;
        one.row->turn = turn;
        commit_one(one);
    };
    for (std::uint64_t number = 1; number < 6; ++number)
        move(number, 0, number < 4 ? TurnState::running : TurnState::failed);
    EXPECT_EQ(counts(10), std::pair(3u, 2u));
    EXPECT_EQ(counts(1), std::pair(1u, 1u));
    EXPECT_EQ(store().session_counts("other", 10).value().running, 0u);
    move(1, 1, TurnState::rest);
    move(2, 1, TurnState::failed);
    EXPECT_EQ(counts(10), std::pair(1u, 3u));
    commit_one(append(3, 1));  // leaves the row as it is
    EXPECT_EQ(counts(10), std::pair(1u, 3u));
    auto works = append(3, 2);
    works.wake_at = from_ms(0);
    works.drive = port::Drive::keep;
    works.epoch = store().epoch();
    commit_one(works);
    EXPECT_EQ(counts(10), std::pair(1u, 3u)) << "it is counted once";
    works.session = session(1);
    works.after = 2;
    works.frame.first = 3;
    commit_one(works);
    EXPECT_EQ(counts(10), std::pair(2u, 3u)) << "its row does not say that it works";
    EXPECT_EQ(counts(1), std::pair(1u, 1u));
    auto gone = append(4, 1);
    gone.erase = true;
    commit_one(gone);
    EXPECT_EQ(counts(10), std::pair(2u, 2u));
}

TEST_P(StoreConformance, PendingList_Pages_ContinueAfterTheLastRow) {
    fill_pending();
    for (auto const& statuses :
         {std::vector<port::PendingStatus>{}, {port::PendingStatus::waiting}}) {
        port::PendingFilter const whole{.project = "acme", .statuses = statuses};
        auto page = whole;
        page.limit = 1;
        std::string pages;
        for (;;) {
            auto const rows = store().list_pending(page).value();
            if (rows.empty()) break;
            ASSERT_EQ(rows.size(), 1u);
            pages += (pages.empty() ? "" : " ") + name_of(rows[0]);
            page.before = PendingId{rows[0].session, rows[0].row.call, rows[0].row.generation, {}};
        }
        EXPECT_EQ(pages, listed(whole));
    }
    port::PendingFilter filter{.project = "acme", .session = session(1)};
    filter.before = PendingId{session(3), 1, 1, {}};
    EXPECT_EQ(listed(filter), "1/3/1 1/2/1 1/1/2 1/1/1");
    filter.before = PendingId{session(1), 2, 1, {}};
    EXPECT_EQ(listed(filter), "1/1/2 1/1/1");
    filter.session = session(3);
    EXPECT_EQ(listed(filter), "");
    filter.limit = 0;
    filter.session.reset();
    filter.before.reset();
    EXPECT_EQ(listed(filter), "");
}

TEST_P(StoreConformance, CreateKey_FindsItsSessionAndCreatesOnlyOne) {
    EXPECT_EQ(store().find_created(Bits128{3}).value(), std::nullopt);
    auto first = create(1, "acme");
    auto second = create(2, "acme");
    first.create_key = second.create_key = Bits128{3};
    std::vector<port::Append> const batch{first, second, create(3, "acme")};
    auto const results = store().commit(batch);
    EXPECT_TRUE(results[0]);
    EXPECT_EQ(code(results[1]), Code::conflict);
    EXPECT_TRUE(results[2]);
    EXPECT_EQ(store().find_created(Bits128{3}).value(), session(1));
    EXPECT_FALSE(store().load(session(2)).value().row);
}

TEST_P(StoreConformance, Sessions_AreListedByProjectNewestFirst) {
    for (std::uint64_t number = 1; number <= 6; ++number)
        commit_one(create(number, number % 3 == 0 ? "other" : "acme"));
    EXPECT_EQ(numbers(store().sessions("acme", 0, 10).value()),
              (std::vector<std::uint64_t>{5, 4, 2, 1}));
    EXPECT_EQ(numbers(store().sessions("acme", 4, 1).value()), (std::vector<std::uint64_t>{2}));
    EXPECT_EQ(numbers(store().sessions("other", 0, 10).value()),
              (std::vector<std::uint64_t>{6, 3}));
    EXPECT_TRUE(store().sessions("nobody", 0, 10).value().empty());
    EXPECT_EQ(numbers(store().all_sessions(2, 3).value()), (std::vector<std::uint64_t>{3, 4, 5}));
}

TEST_P(StoreConformance, CompletedSessions_AreListedOldestFirst) {
    for (std::uint64_t number = 1; number <= 5; ++number) {
        auto made = create(number, number == 5 ? "other" : "acme");
        made.row->status = number == 3 ? "active" : "completed";
        made.row->updated = at(number == 1 ? 50 : static_cast<std::int64_t>(number) * 10);
        commit_one(made);
    }
    EXPECT_EQ(store().completed_until(at(50), 10).value(),
              (std::vector<SessionId>{session(2), session(4), session(1), session(5)}));
    EXPECT_EQ(store().completed_until(at(49), 10).value(),
              (std::vector<SessionId>{session(2), session(4)}));
    EXPECT_EQ(store().completed_until(at(50), 1).value(), (std::vector<SessionId>{session(2)}));
    EXPECT_TRUE(store().completed_until(at(19), 10).value().empty());
}

TEST_P(StoreConformance, OtherSessionWithTheSameNumber_IsUnknown) {
    auto first = create(1, "acme");
    first.keys = {{"k", 1}};
    first.pending = {pause(1)};
    commit_one(first);
    auto const foreign = SessionId::make(1, Bits128{0xee, 0xee, 0xee, 0xee, 0xee, 0xee});
    ASSERT_NE(foreign, session(1));
    EXPECT_FALSE(store().load(foreign).value().row);
    EXPECT_TRUE(store().load(foreign).value().tail.empty());
    EXPECT_TRUE(store().page(foreign, 1, 100).value().empty());
    EXPECT_EQ(store().lookup(foreign, std::vector<std::string>{"k"}).value(), std::vector<Seq>{0});
    EXPECT_FALSE(store().pending(foreign, 1, 1).value());
    EXPECT_TRUE(store().pending_rows(foreign).value().empty());
    EXPECT_TRUE(store().key_rows(foreign).value().empty());
    EXPECT_EQ(listed({.project = "acme", .session = foreign}), "");
    auto late = append(1, 1);
    late.session = foreign;
    EXPECT_TRUE(moved(store().commit({&late, 1})[0]));
}

}  // namespace dormouse::store
