// Two stores on one database at the same time.
#include "store/postgres/testing/test_store.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

namespace dormouse::store::postgres {
namespace {

using port::Append;
using port::AppendResult;
using std::chrono::seconds;

port::TokenRow token(std::string id) {
    port::TokenRow row{.id = std::move(id), .kind = "link", .name = "alice", .role = "answer"};
    row.created = at(1);
    return row;
}

// Commits one append in each store at the same moment.
std::array<AppendResult, 2> race(port::Store& a, Append const& one, port::Store& b,
                                 Append const& other) {
    std::array<AppendResult, 2> out;
    {
        std::jthread const thread([&] { out[1] = b.commit({&other, 1})[0]; });
        out[0] = a.commit({&one, 1})[0];
    }
    return out;
}

TEST_F(SharedStores, Append_IsSeenByTheOther) {
    EXPECT_TRUE(a_->shared());
    EXPECT_NE(a_->epoch(), b_->epoch());
    auto const first = create(1, "acme", 2);
    write(*a_, first);
    auto const stamp = port::stamp_of(session(1), first.frame);
    std::array const sessions{session(2), session(1)};
    EXPECT_THAT(b_->newest(sessions).value(),
                testing::ElementsAre(port::NewestFrame{}, port::NewestFrame{2, stamp}));
    auto second = append(1, 2);
    second.stamp = stamp;
    write(*b_, second);
    EXPECT_EQ(a_->load(session(1)).value().stamp, port::stamp_of(session(1), second.frame));
}

TEST_F(SharedStores, Append_AfterTheOthersAppend_IsMoved) {
    write(*a_, create(1, "acme"));
    write(*b_, append(1, 1));
    auto const late = append(1, 1);
    std::vector<Append> const batch{late, create(2, "acme")};
    auto const results = a_->commit(batch);
    EXPECT_TRUE(moved(results[0]));
    EXPECT_TRUE(results[1]);
}

// One call writes what each of its appends asks for.
TEST_F(SharedStores, Batch_HasAppendsOfAllKinds_EachHasItsResult) {
    auto const first = create(1, "acme");
    write(*a_, first);
    for (std::uint64_t const number : {2, 3, 4}) write(*a_, create(number, "acme"));
    auto const driver_only = [&](std::uint64_t number, Seq after) {
        auto out = append(number, after);
        out.frame = {.first = after + 1, .count = 0, .bytes = ""};
        out.epoch = a_->epoch();
        out.drive = port::Drive::keep;
        return out;
    };
    auto end = append(3, 1);
    end.erase = true;
    auto rebuilt = append(4, 1);
    rebuilt.rows_rebuilt = true;
    rebuilt.pending = {pause(1)};
    auto named = create(5, "acme");
    named.row->alias = "ops";
    named.claims_alias = true;
    named.create_key = Bits128{7};
    std::vector<Append> const batch{driver_only(1, 1), driver_only(2, 9), end, rebuilt, named,
                                    create(6, "acme")};
    auto const results = a_->commit(batch);
    EXPECT_EQ(results[0], port::stamp_of(session(1), first.frame)) << "the newest frame stays";
    EXPECT_TRUE(moved(results[1]));
    EXPECT_EQ(results[2], port::Stamp::none);
    for (std::size_t const i : {3, 4, 5}) EXPECT_TRUE(results[i]) << i;
    EXPECT_EQ(b_->load(session(1)).value().driver, a_->epoch());
    EXPECT_EQ(b_->load(session(3)).value().row->status, "deleted");
    EXPECT_TRUE(b_->pending(session(4), 1, 1).value());
    EXPECT_EQ(b_->find_created(Bits128{7}).value(), session(5));
    EXPECT_EQ(b_->feed(port::Projects::all(), 0, 1'000'000).value().rows.size(), 7U);
    auto again = create(7, "acme");
    again.create_key = Bits128{7};
    auto same = create(8, "acme");
    same.row->alias = "ops";
    same.claims_alias = true;
    auto const refused = b_->commit(std::vector{again, same, append(6, 1)});
    EXPECT_EQ(code(refused[0]), Code::conflict);
    EXPECT_FALSE(refused[1]);
    EXPECT_TRUE(refused[2]);
}

// As after a failover that lost the newest commits: the same head is reached with other events.
TEST_F(SharedStores, Append_OnALostFrame_IsMoved) {
    auto const first = create(1, "acme");
    write(*a_, first);
    auto const lost = append(1, 1);
    write(*a_, lost);
    auto const old =
        std::to_string(static_cast<std::int64_t>(port::stamp_of(session(1), first.frame)));
    sql("DELETE FROM journal WHERE no = 1 AND first = 2;"
        "UPDATE sessions SET head = 1, stamp = " +
        old + " WHERE no = 1");
    auto other = append(1, 1);
    other.frame.bytes = "[\"other\"]";
    write(*b_, other);
    auto next = append(1, 2);
    next.stamp = port::stamp_of(session(1), lost.frame);
    EXPECT_TRUE(moved(a_->commit({&next, 1})[0]));
    next.stamp = port::stamp_of(session(1), other.frame);
    write(*a_, next);
}

TEST_F(SharedStores, Session_InAnotherTransaction_IsMovedAtOnce) {
    write(*a_, create(1, "acme"));
    write(*a_, create(2, "acme"));
    auto holder = in_schema();
    ASSERT_TRUE(holder.script("BEGIN", std::chrono::seconds(5)));
    ASSERT_TRUE(
        holder.script("SELECT FROM sessions WHERE no = 1 FOR UPDATE", std::chrono::seconds(5)));
    std::vector<Append> const batch{append(1, 1), append(2, 1)};
    auto const results = b_->commit(batch);
    EXPECT_TRUE(moved(results[0]));
    EXPECT_TRUE(results[1]);
    ASSERT_TRUE(holder.script("ROLLBACK", std::chrono::seconds(5)));
    write(*b_, append(1, 1));
}

// One process gives a message to its receiver, the other gives it back to its sender.
TEST_F(SharedStores, OutboxMessage_IsTakenOnce) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "session", 0), outbox_row(1, 1, 1, "session", 0)};
    write(*a_, first);
    write(*a_, create(2, "acme"));
    auto given = append(2, 1);
    given.taken = {first.outbox[0].key};
    auto back = append(1, 1);
    back.taken = {first.outbox[1].key, first.outbox[0].key};
    auto const results = race(*a_, given, *b_, back);
    ASSERT_NE(results[0].has_value(), results[1].has_value());
    EXPECT_TRUE(moved(results[0]) || moved(results[1]));
    bool const other_stays = results[0].has_value();
    EXPECT_EQ(b_->outbox_message(first.outbox[1].key).value().has_value(), other_stays);
    EXPECT_FALSE(a_->outbox_message(first.outbox[0].key).value());
}

TEST_F(SharedStores, RacingAppends_ExactlyOneIsWritten) {
    write(*a_, create(1, "acme"));
    for (Seq after = 1; after < 60; ++after) {
        auto other = append(1, after);
        other.frame.bytes = "[\"other\"]";
        auto const results = race(*a_, append(1, after), *b_, other);
        ASSERT_NE(results[0].has_value(), results[1].has_value());
        EXPECT_TRUE(moved(results[0]) || moved(results[1]));
    }
    EXPECT_EQ(a_->load(session(1)).value().tail.size(), 60u);
}

TEST_F(SharedStores, RacingCreations_OfOneNumber_ExactlyOneIsWritten) {
    for (std::uint64_t number = 1; number < 40; ++number) {
        auto one = create(number, "acme");
        auto other = create(number, "acme");
        one.create_key = Bits128{1, static_cast<std::uint8_t>(number)};
        other.create_key = Bits128{2, static_cast<std::uint8_t>(number)};
        auto const results = race(*a_, one, *b_, other);
        ASSERT_NE(results[0].has_value(), results[1].has_value());
        EXPECT_TRUE(moved(results[0]) || moved(results[1]));
        auto const lost = results[0] ? *other.create_key : *one.create_key;
        EXPECT_EQ(a_->find_created(lost).value(), std::nullopt);
    }
}

TEST_F(SharedStores, RacingCreateKeys_ExactlyOneSessionExists) {
    for (std::uint64_t round = 1; round < 40; ++round) {
        auto one = create(2 * round, "acme");
        auto other = create(2 * round + 1, "acme");
        one.create_key = other.create_key = Bits128{static_cast<std::uint8_t>(round)};
        auto const results = race(*a_, one, *b_, other);
        ASSERT_NE(results[0].has_value(), results[1].has_value());
        EXPECT_EQ(code(results[0] ? results[1] : results[0]), Code::conflict);
        auto const winner = results[0] ? one.session : other.session;
        EXPECT_EQ(b_->find_created(*one.create_key).value(), winner);
    }
    EXPECT_EQ(a_->all_sessions(0, 1'000).value().size(), 39u);
}

TEST_F(SharedStores, RacingAliases_ExactlyOneHoldsIt) {
    for (std::uint64_t round = 1; round < 40; ++round) {
        auto one = create(2 * round, "acme");
        auto other = create(2 * round + 1, "acme");
        one.row->alias = other.row->alias = "ops-" + std::to_string(round % 4);
        one.claims_alias = other.claims_alias = true;
        auto const results = race(*a_, one, *b_, other);
        ASSERT_NE(results[0].has_value(), results[1].has_value()) << round;
        EXPECT_EQ(code(results[0] ? results[1] : results[0]), Code::alias_taken);
        auto freed = append((results[0] ? one : other).session.number(), 1);
        freed.row = (results[0] ? one : other).row;
        freed.row->status = "completed";
        write(round % 2 == 0 ? *a_ : *b_, freed);
    }
}

TEST_F(SharedStores, Rows_OfEachPart_AreSeenByTheOther) {
    ASSERT_TRUE(a_->change_tokens({.put = token("tok_a")}));
    EXPECT_EQ(b_->tokens().value(), std::vector{token("tok_a")});
    ASSERT_TRUE(b_->change_tokens({.drop = "tok_a"}));
    EXPECT_EQ(code(a_->change_tokens({.drop = "tok_a"})), Code::conflict) << "spent once";
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "session", 0)};
    write(*a_, first);
    auto taker = create(2, "acme");
    taker.taken = {first.outbox[0].key};
    write(*b_, taker);
    EXPECT_FALSE(a_->outbox_message(first.outbox[0].key).value());
}

TEST_F(SharedStores, Audit_HasAChainForEachWriter) {
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(a_->change_tokens({.audit = "a" + std::to_string(i)}));
        ASSERT_TRUE(b_->change_tokens({.audit = "b" + std::to_string(i)}));
    }
    auto const lines = [&] {
        std::map<std::uint64_t, port::AuditRow> last;
        std::string out;
        auto const rows = a_->audit(0, 100).value();
        for (auto const& row : rows) {
            auto& before = last[row.n >> 48];
            bool const follows = before.n == 0 || row.n == before.n + 1;
            bool const chained = row.hash == port::chained(before.hash, row.n, row.line);
            bool const first = before.n == 0 && (row.n & 0xffff'ffff) > 1;  // after a trim
            out += row.line + (follows && (chained || first) ? " " : "! ");
            before = row;
        }
        return out;
    };
    EXPECT_EQ(lines(), "a0 a1 a2 b0 b1 b2 ");
    auto const rows = a_->audit(0, 100).value();
    ASSERT_TRUE(a_->trim_audit(rows.at(4).n, "trimmed")) << "lines of the other's chain";
    EXPECT_EQ(lines(), "a0 a1 a2 trimmed b2 ");
}

TEST_F(SharedStores, FirstProposal_IsWhatAllUse) {
    EXPECT_EQ(a_->agree("key", "one").value(), "one");
    EXPECT_EQ(b_->agree("key", "two").value(), "one");
    EXPECT_EQ(b_->agree("other", std::string("\0x", 2)).value(), std::string("\0x", 2));
}

TEST_F(SharedStores, Value_IsReplacedByWhoKnowsItsVersion) {
    EXPECT_TRUE(a_->exchange({"x:1", "one", ""}).value());
    EXPECT_FALSE(b_->exchange({"x:1", "two", ""}).value()) << "it is there already";
    auto const first = b_->values("x:").value();
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].value, "one");
    EXPECT_TRUE(b_->exchange({"x:1", "two", first[0].mark}).value());
    EXPECT_FALSE(a_->exchange({"x:1", "three", first[0].mark}).value()) << "an older version";
    EXPECT_EQ(a_->values("x:").value().at(0).value, "two");
    EXPECT_TRUE(a_->values("x:2").value().empty());
    EXPECT_FALSE(a_->exchange({"x:2", "lost", "no version"}).value()) << "there is none";
}

// Two processes find two calls with the reference of one delivery.
TEST_F(SharedStores, DeliveryForTwoSessionsAtOnce_IsOfOne) {
    for (std::uint64_t i = 1; i <= 40; i += 2) {
        auto one = create(i, "acme");
        auto other = create(i + 1, "acme");
        auto const byte = static_cast<std::uint8_t>(i);
        one.delivered = {{{1, byte}, {9}}, {{2, byte}, {9}}};
        other.delivered = {{{2, byte}, {9}}, {{1, byte}, {9}}};
        one.epoch = a_->epoch();
        other.epoch = b_->epoch();
        auto const results = race(*a_, one, *b_, other);
        EXPECT_NE(results[0].has_value(), results[1].has_value()) << i;
        EXPECT_TRUE(moved(results[results[0] ? 1 : 0])) << i;
    }
}

// One process has found no call, the other one has found one.
TEST_F(SharedStores, DeliveryKeptAndTakenAtOnce_HasOnePlace) {
    for (std::uint8_t i = 1; i <= 40; ++i) {
        port::KeptRow row;
        row.delivery = {{1, i}, {9}};
        auto taker = create(i, "acme");
        taker.delivered = {row.delivery};
        Result<void> kept;
        {
            std::jthread const thread([&] { kept = b_->keep(row); });
            write(*a_, taker);
        }
        EXPECT_EQ(a_->delivered({1, i}).value(), Bits128{9});
        EXPECT_FALSE(a_->kept_delivery({1, i}).value()) << (kept ? "kept first" : "kept later");
    }
}

// The moment that such a race rarely has: the append has written the delivery, and is not
// committed.
TEST_F(SharedStores, KeepDuringTheAppendThatTakesIt_IsRefused) {
    port::KeptRow row;
    row.delivery = {{1}, {9}};
    auto taker = create(1, "acme");
    taker.delivered = {row.delivery};
    auto lock = in_schema();
    ASSERT_TRUE(lock.script("BEGIN; LOCK TABLE feed IN SHARE MODE", seconds(5)));
    auto const wait_for = [this](std::int64_t waiting, std::atomic<bool> const& over) {
        while (!over && number("SELECT count(*) FROM pg_locks WHERE NOT granted") < waiting)
            std::this_thread::yield();
    };
    std::atomic<bool> appended = false;
    std::atomic<bool> answered = false;
    Result<void> kept;
    {
        std::jthread const append([&] {
            write(*a_, taker);
            appended = true;
        });
        wait_for(1, appended);
        std::jthread const keep([&] {
            kept = b_->keep(row);
            answered = true;
        });
        wait_for(2, answered);
        ASSERT_TRUE(lock.script("COMMIT", seconds(5)));
    }
    EXPECT_EQ(code(kept), Code::conflict);
    EXPECT_FALSE(a_->kept_delivery({1}).value());
}

TEST_F(SharedStores, SumsOfADay_AreThoseOfAllProcesses) {
    auto first = create(1, "acme");
    first.epoch = a_->epoch();
    first.day_sums = {{20'000, "a", 5}};
    auto second = create(2, "acme");
    second.epoch = b_->epoch();
    second.day_sums = {{20'000, "a", 7}};
    ASSERT_TRUE(a_->commit(std::array{first}).front());
    ASSERT_TRUE(b_->commit(std::array{second}).front());
    std::array<std::string, 1> const names{"a"};
    EXPECT_EQ(a_->day_sums(20'000, names).value(), std::vector<std::int64_t>{12});
    EXPECT_EQ(b_->day_sums(20'000, names).value(), std::vector<std::int64_t>{12});
}

TEST_F(SharedStores, Hold_IsThatOfAllProcesses) {
    auto const beat = [this] { return b_->beat({b_->epoch(), "", "", false})->held; };
    EXPECT_FALSE(a_->held().value());
    ASSERT_TRUE(a_->hold("{}"));
    ASSERT_TRUE(a_->hold("{}")) << "once more";
    EXPECT_TRUE(b_->held().value());
    EXPECT_TRUE(beat());
    ASSERT_TRUE(b_->end_hold());
    EXPECT_FALSE(a_->held().value());
    EXPECT_FALSE(beat());
    EXPECT_TRUE(b_->end_hold()) << "there is none";
}

TEST_F(SharedStores, ClaimedMessage_IsNotTheOthersUntilItIsDueAgain) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "webhook", 10), outbox_row(1, 1, 1, "webhook", 90)};
    write(*a_, first);
    std::vector<port::OutboxKey> const keys{
        first.outbox[0].key, first.outbox[1].key, {session(2), 1, 0}};
    std::vector const due{keys[0]};
    EXPECT_EQ(a_->claim(keys, at(20), at(40)).value(), due);
    EXPECT_TRUE(b_->claim(keys, at(39), at(60)).value().empty());
    EXPECT_EQ(b_->claim(keys, at(40), at(60)).value(), due);
    port::OutboxUpdate sent{.key = keys[0], .state = port::OutboxState::delivered};
    ASSERT_TRUE(b_->update_messages({&sent, 1}));
    EXPECT_TRUE(a_->claim(due, at(80), at(99)).value().empty());
    EXPECT_TRUE(a_->claim({}, at(80), at(99)).value().empty());
}

TEST_F(SharedStores, DeliveryByOne_IsKnownToTheOther) {
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "webhook", 10), outbox_row(1, 1, 1, "webhook", 10)};
    first.outbox[0].target = "https://hook";
    first.outbox[1].target = "https://other";
    write(*a_, first);
    EXPECT_FALSE(b_->delivered_since("https://hook", at(0)).value()) << "it waits";
    port::OutboxUpdate update{.key = first.outbox[0].key, .state = port::OutboxState::delivered};
    update.delivered = at(20);
    ASSERT_TRUE(a_->update_messages({&update, 1}));
    EXPECT_TRUE(b_->delivered_since("https://hook", at(20)).value());
    EXPECT_FALSE(b_->delivered_since("https://hook", at(21)).value());
    EXPECT_FALSE(b_->delivered_since("https://other", at(0)).value());
}

// As after a kill of the processes that had the schema.
TEST_F(SharedStores, RowsOfProcessesThatAreGone_AreRemovedByTheOnlyOneLeft) {
    auto const add = "INSERT INTO nodes(epoch, name, slot, version) VALUES(90, 'gone', 9, '0.1');";
    sql(add);
    a_ = open_store(url_);
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 3) << "another one has the schema";
    a_.reset();
    b_.reset();
    a_ = open_store(url_);
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 1);
    b_ = open_store(url_);
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 2);
}

TEST_F(SharedStores, Nodes_AreRegisteredWhileTheyAreOpen) {
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 2);
    EXPECT_EQ(number("SELECT count(*) FROM writers WHERE epoch IS NOT NULL"), 2);
    auto const newest = b_->epoch();
    a_.reset();
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 1);
    a_ = open_store(url_, {.node = "again"});
    EXPECT_GT(a_->epoch(), newest);
    EXPECT_EQ(number("SELECT count(*) FROM writers"), 2) << "the free row is used again";
    EXPECT_EQ(number("SELECT count(*) FROM nodes WHERE name = 'again'"), 1);
}

TEST_F(SharedStores, FencedStore_WritesNothingMore) {
    write(*a_, create(1, "acme"));
    write(*b_, create(2, "acme"));
    EXPECT_FALSE(a_->fenced());
    sql("UPDATE writers SET incarnation = 'other' WHERE epoch = " + std::to_string(a_->epoch()));
    auto const refused = append(1, 1);
    auto const results = a_->commit({&refused, 1});
    ASSERT_FALSE(results[0]);
    EXPECT_EQ(results[0].error().cause, port::AppendError::Cause::fenced);
    EXPECT_EQ(code(results[0]), Code::store_unavailable);
    EXPECT_TRUE(a_->fenced());
    EXPECT_EQ(code(a_->change_tokens({.audit = "no"})), Code::store_unavailable);
    EXPECT_EQ(a_->load(session(1)).value().tail.size(), 1u);
    EXPECT_TRUE(a_->audit(0, 9).value().empty());
    write(*b_, append(1, 1));
    a_.reset();
    EXPECT_EQ(number("SELECT count(*) FROM writers WHERE incarnation = 'other'"), 1)
        << "the row of another process stays";
}

TEST_F(SharedStores, FencedStore_JoinsUnderANewEpoch) {
    write(*a_, create(1, "acme"));
    auto const old = a_->epoch();
    sql("UPDATE writers SET epoch = NULL, incarnation = NULL WHERE epoch = " + std::to_string(old) +
        "; DELETE FROM nodes WHERE epoch = " + std::to_string(old));
    auto one = append(1, 1);
    one.epoch = old;
    EXPECT_EQ(a_->commit({&one, 1})[0].error().cause, port::AppendError::Cause::fenced);
    ASSERT_TRUE(a_->join());
    EXPECT_FALSE(a_->fenced());
    EXPECT_GT(a_->epoch(), b_->epoch());
    EXPECT_TRUE(moved(a_->commit({&one, 1})[0])) << "decided under the old epoch";
    one.epoch = a_->epoch();
    write(*a_, one);
}

class SharedDriver : public SharedStores {
protected:
    // An append to session 1 by the store's process.
    [[nodiscard]] static Append driving(PostgresStore const& store, Seq after, port::Drive drive,
                                        std::uint32_t count = 1) {
        auto one = after == 0 ? create(1, "acme") : append(1, after, count);
        one.epoch = store.epoch();
        one.drive = drive;
        one.wake_at = at(50);
        return one;
    }
    [[nodiscard]] static std::string due(port::Store& store) {
        std::string out;
        auto const rows = store.due(at(100), std::nullopt, 10).value();
        for (auto const& row : rows)
            out += std::to_string(row.session.number()) + "@" + std::to_string(to_ms(row.at)) +
                   " driver " + std::to_string(row.driver) + " head " + std::to_string(row.head);
        return out;
    }
};

TEST_F(SharedDriver, Driver_IsSetAndLeftByItsAppends) {
    auto const mine = std::to_string(a_->epoch());
    write(*a_, driving(*a_, 0, port::Drive::keep));
    EXPECT_EQ(b_->load(session(1)).value().driver, a_->epoch());
    EXPECT_EQ(b_->load(session(1)).value().wake_at, at(50));
    EXPECT_EQ(due(*b_), "1@0 driver " + mine + " head 1");
    EXPECT_EQ(b_->next_due().value(), from_ms(0));
    write(*a_, driving(*a_, 1, port::Drive::leave));
    EXPECT_EQ(b_->load(session(1)).value().driver, 0u);
    EXPECT_EQ(due(*b_), "1@" + std::to_string(to_ms(at(50))) + " driver 0 head 2");
    EXPECT_EQ(b_->next_due().value(), at(50));
}

TEST_F(SharedDriver, OtherProcess_AppendsButDoesNotDrive) {
    write(*a_, driving(*a_, 0, port::Drive::keep));
    EXPECT_TRUE(moved(b_->commit(std::array{driving(*b_, 1, port::Drive::keep)})[0]));
    EXPECT_TRUE(moved(b_->commit(std::array{driving(*b_, 1, port::Drive::leave)})[0]));
    write(*b_, driving(*b_, 1, port::Drive::none));
    EXPECT_EQ(a_->load(session(1)).value().driver, a_->epoch()) << "stays as it is";
    write(*a_, driving(*a_, 2, port::Drive::leave));
    write(*b_, driving(*b_, 3, port::Drive::keep));
    EXPECT_EQ(a_->load(session(1)).value().driver, b_->epoch());
}

TEST_F(SharedDriver, DriverThatIsGone_IsReplaced) {
    write(*a_, driving(*a_, 0, port::Drive::keep));
    sql("DELETE FROM nodes WHERE epoch = " + std::to_string(a_->epoch()));
    write(*b_, driving(*b_, 1, port::Drive::keep));
    EXPECT_EQ(a_->load(session(1)).value().driver, b_->epoch());
}

TEST_F(SharedDriver, AppendWithoutEvents_WritesOnlyTheDriver) {
    auto first = driving(*a_, 0, port::Drive::none);
    write(*a_, first);
    auto const stamp = port::stamp_of(session(1), first.frame);
    auto const empty = [](PostgresStore const& store, port::Drive drive) {
        Append one;
        one.session = session(1);
        one.epoch = store.epoch();
        one.drive = drive;
        one.after = 1;
        one.frame.first = 2;
        return one;
    };
    auto const head = a_->feed_head().value();
    EXPECT_EQ(b_->commit(std::array{empty(*b_, port::Drive::keep)})[0], stamp);
    EXPECT_EQ(a_->load(session(1)).value().driver, b_->epoch());
    EXPECT_EQ(a_->load(session(1)).value().wake_at, at(50)) << "stays";
    EXPECT_TRUE(moved(a_->commit(std::array{empty(*a_, port::Drive::keep)})[0]));
    EXPECT_EQ(b_->commit(std::array{empty(*b_, port::Drive::leave)})[0], stamp);
    EXPECT_EQ(a_->load(session(1)).value().tail.size(), 1u);
    EXPECT_EQ(a_->feed_head().value(), head);
    auto stale = empty(*a_, port::Drive::keep);
    stale.stamp = port::Stamp{7};
    EXPECT_TRUE(moved(a_->commit(std::array{stale})[0]));
    write(*a_, append(1, 1));
}

TEST_F(SharedDriver, DeletedSession_HasNoDriver) {
    write(*a_, driving(*a_, 0, port::Drive::keep));
    auto last = driving(*a_, 1, port::Drive::keep);
    last.erase = true;
    write(*a_, last);
    EXPECT_EQ(due(*b_), "");
    EXPECT_EQ(b_->load(session(1)).value().driver, 0u);
}

TEST_F(SharedStores, NumberBlocks_AreDisjointAndUnused) {
    auto const first = a_->take_numbers().value();
    auto const second = b_->take_numbers().value();
    EXPECT_EQ(first.count, 256u);
    EXPECT_EQ(first.first % 256, 0u);
    EXPECT_EQ(second.first, first.first + 256);
    write(*a_, create(256 * 90 + 5, "acme"));
    auto const third = a_->take_numbers().value();
    EXPECT_EQ(third.first, 256u * 91) << "after all that are used";
    EXPECT_EQ(b_->take_numbers().value().first, 256u * 92);
}

TEST_F(SharedStores, NumberBlock_OfALostProcess_IsNotGivenOutAgain) {
    auto const lost = a_->take_numbers().value();
    a_.reset();
    EXPECT_GE(b_->take_numbers().value().first, lost.first + lost.count);
    a_ = open_store(url_);
    EXPECT_GE(a_->take_numbers().value().first, lost.first + 2 * lost.count);
}

TEST_F(SharedStores, Page_OfManyFrames_IsWhole) {
    write(*a_, create(1, "acme"));
    for (Seq after = 1; after < 1'100; ++after) write(*a_, append(1, after));
    auto const whole = b_->page(session(1), 1, 10'000'000).value();
    ASSERT_EQ(whole.size(), 1'100u);
    EXPECT_EQ(whole.back().first, 1'100u);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 700; ++i) bytes += whole[i].bytes.size();
    EXPECT_EQ(b_->page(session(1), 1, bytes).value().size(), 700u);
    EXPECT_EQ(b_->page(session(1), 1, bytes + 1).value().size(), 701u);
    EXPECT_EQ(b_->page(session(1), 589, 10'000'000).value().size(), 512u);
    sql("DELETE FROM journal WHERE first = 513");
    EXPECT_EQ(code(b_->page(session(1), 1, 10'000'000)), Code::internal);
    EXPECT_EQ(code(b_->page(session(1), 513, 10'000'000)), Code::internal);
}

TEST_F(SharedStores, DamagedRows_AreReported) {
    write(*a_, create(1, "acme"));
    write(*a_, append(1, 1));
    write(*a_, create(2, "acme"));
    write(*a_, append(2, 1));
    sql("UPDATE journal SET data = data || ' ' WHERE no = 1 AND first = 1;"
        "DELETE FROM journal WHERE no = 2 AND first = 2");
    EXPECT_EQ(code(b_->load(session(1))), Code::internal);
    EXPECT_THAT(b_->load(session(1)).error().detail, testing::HasSubstr("event 1"));
    EXPECT_THAT(b_->load(session(2)).error().detail, testing::HasSubstr("event 2 is missing"));
}

}  // namespace
}  // namespace dormouse::store::postgres
