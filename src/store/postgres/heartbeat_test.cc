#include "store/postgres/heartbeat.h"

#include "store/postgres/testing/test_store.h"

#include <array>

namespace dormouse::store::postgres {
namespace {

using std::chrono::seconds;

class HeartbeatTest : public SharedStores {
protected:
    // The row of the process that has this store.
    static port::NodeRow row_of(PostgresStore const& store, port::HeartbeatReply const& beat) {
        for (port::NodeRow const& row : beat.nodes)
            if (row.epoch == store.epoch()) return row;
        ADD_FAILURE() << "no row for epoch " << store.epoch();
        return {};
    }
    static std::string keys_of(PostgresStore& store) {
        auto const nodes = store.node_keys().value();
        for (NodeKeys const& node : nodes)
            if (node.epoch == store.epoch()) return node.masters;
        return "no row";
    }
    static port::HeartbeatReply beat(PostgresStore& store, std::string const& url = {},
                                     bool draining = false) {
        auto out = store.beat({store.epoch(), url, "0a1b", draining});
        EXPECT_TRUE(out) << out.error().detail;
        return out.value_or(port::HeartbeatReply());
    }
};

TEST_F(HeartbeatTest, Beat_CountsAndBringsTheOthers) {
    auto const first = beat(*a_, "http://127.0.0.1:1");
    auto const second = beat(*a_, "http://127.0.0.1:1", true);
    EXPECT_TRUE(second.taken);
    ASSERT_EQ(second.nodes.size(), 2u);
    auto const mine = row_of(*a_, second);
    EXPECT_EQ(mine.counter, row_of(*a_, first).counter + 1);
    EXPECT_EQ(mine.url, "http://127.0.0.1:1");
    EXPECT_EQ(mine.config, "0a1b");
    EXPECT_TRUE(mine.draining);
    EXPECT_EQ(mine.name, "node");
    EXPECT_NE(mine.slot, row_of(*b_, second).slot);
    EXPECT_EQ(row_of(*b_, second).counter, 0u);
    EXPECT_GE(second.clock, first.clock);
    EXPECT_GE(second.clock, mine.started);
}

TEST_F(HeartbeatTest, SchemaOfAnotherDatabase_HoldsUntilItIsReleased) {
    EXPECT_FALSE(beat(*a_).held);
    sql("UPDATE settings SET value = '1/2/3' WHERE name = 'identity'");
    EXPECT_TRUE(beat(*a_).held);
    EXPECT_TRUE(b_->held().value());
    ASSERT_TRUE(b_->end_hold());
    EXPECT_FALSE(beat(*a_).held);
    EXPECT_FALSE(a_->held().value());
}

TEST_F(HeartbeatTest, NameOfAProcessThatWorks_IsRefusedUntilThatEnds) {
    PostgresOptions const named{.relaxed = true, .node = "web1", .sole_name = true};
    auto first = PostgresStore::open(url_, named);
    ASSERT_TRUE(first) << first.error().detail;
    auto const second = PostgresStore::open(url_, named);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::wrong_state);
    EXPECT_NE(second.error().detail.find("\"web1\" works on this database"), std::string::npos);
    first->reset();
    EXPECT_TRUE(PostgresStore::open(url_, named));
}

TEST_F(HeartbeatTest, ChangeOfTokens_EndsTheWaitOfTheOther) {
    auto const before = beat(*a_).access;
    ASSERT_TRUE(a_->receive(Duration(0)).value().empty()) << "listens from now on";
    port::TokenRow const row{.id = "tok_a", .kind = "link", .name = "ann", .role = "answer"};
    ASSERT_TRUE(b_->change_tokens({.put = row}));
    EXPECT_EQ(a_->receive(Duration(60'000)).value(), std::vector<std::string>{""});
    EXPECT_GT(beat(*a_).access, before);
    a_->end_wait();
    EXPECT_TRUE(a_->receive(Duration(60'000)).value().empty());
}

TEST_F(HeartbeatTest, ProcessLeavesOrIsRemoved_EndsTheWaitOfTheOther) {
    auto const c = open_store(url_);
    auto const seen = row_of(*c, beat(*a_));
    ASSERT_TRUE(a_->receive(Duration(0)).value().empty()) << "listens from now on";
    b_.reset();
    EXPECT_EQ(a_->receive(Duration(60'000)).value(), std::vector<std::string>{""});
    EXPECT_EQ(beat(*a_).nodes.size(), 2u);
    EXPECT_TRUE(a_->remove(seen).value());
    EXPECT_EQ(a_->receive(Duration(60'000)).value(), std::vector<std::string>{""});
    EXPECT_EQ(beat(*a_).nodes.size(), 1u);
}

TEST_F(HeartbeatTest, WhatOneSays_AllHear) {
    for (auto* const store : {a_.get(), b_.get()})
        ASSERT_TRUE(store->receive(Duration(0)).value().empty()) << "listens from now on";
    std::vector<std::string> const texts{"one", "zwölf \\x00 '\"{}", std::string(7'900, 'x')};
    ASSERT_TRUE(b_->publish(texts));
    for (auto* const store : {a_.get(), b_.get()}) {
        std::vector<std::string> received;
        while (received.size() < texts.size()) {
            auto const some = store->receive(Duration(60'000)).value();
            received.insert(received.end(), some.begin(), some.end());
        }
        EXPECT_EQ(received, texts);
    }
}

TEST_F(HeartbeatTest, SignalPoll_NothingIsSaidOrHeard) {
    auto const c = open_store(url_, {.signal = port::Signal::poll});
    ASSERT_TRUE(c->publish(std::array{std::string("lost")}));
    ASSERT_TRUE(b_->publish(std::array{std::string("not received")}));
    EXPECT_TRUE(c->receive(Duration(0)).value().empty());
    EXPECT_EQ(number("SELECT count(*) FROM pg_stat_activity WHERE application_name ="
                     " 'dormouse/node/signal' AND state IS NOT NULL"),
              1);
}

TEST_F(HeartbeatTest, NewestFeedNumber_IsBrought) {
    auto const before = beat(*a_).feed;
    write(*b_, create(1, "acme"));
    EXPECT_GT(beat(*a_).feed, before);
    EXPECT_GE(beat(*a_).feed, a_->feed_head().value());
}

TEST_F(HeartbeatTest, RemovedProcess_CannotWriteUntilItJoinsAgain) {
    write(*b_, create(1, "acme"));
    auto const seen = row_of(*b_, beat(*a_));
    EXPECT_TRUE(a_->remove(seen).value());
    EXPECT_EQ(beat(*a_).nodes.size(), 1u);
    EXPECT_FALSE(beat(*b_).taken);
    EXPECT_FALSE(b_->commit(std::array{append(1, 1)})[0]);
    EXPECT_TRUE(b_->fenced());
    EXPECT_FALSE(a_->remove(seen).value()) << "it is gone already";
    ASSERT_TRUE(b_->join());
    EXPECT_TRUE(beat(*b_).taken);
    EXPECT_GT(b_->epoch(), seen.epoch);
}

TEST_F(HeartbeatTest, ProcessJoinsAgain_ItsKeysAreKnown) {
    ASSERT_TRUE(b_->announce_keys("k1 k2"));
    EXPECT_TRUE(a_->remove(row_of(*b_, beat(*a_))).value());
    ASSERT_TRUE(b_->join());
    EXPECT_EQ(keys_of(*b_), "k1 k2");
    EXPECT_EQ(keys_of(*a_), "");
}

// A row without keys would count as that of a process that does not encrypt.
TEST_F(HeartbeatTest, KeysCannotBeStored_ProcessDoesNotJoin) {
    ASSERT_TRUE(b_->announce_keys("k1"));
    EXPECT_TRUE(a_->remove(row_of(*b_, beat(*a_))).value());
    sql("ALTER TABLE nodes ADD CONSTRAINT planted CHECK (masters = '')");
    EXPECT_FALSE(b_->join());
    EXPECT_FALSE(b_->join());
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 1);
    EXPECT_EQ(number("SELECT count(*) FROM writers WHERE epoch IS NOT NULL"), 1);
    sql("ALTER TABLE nodes DROP CONSTRAINT planted");
    ASSERT_TRUE(b_->join());
    EXPECT_EQ(keys_of(*b_), "k1");
}

// A promoted standby may have the registration and lack the keys.
TEST_F(HeartbeatTest, KeysAreLost_HeartbeatStoresThemAgain) {
    ASSERT_TRUE(b_->announce_keys("k1 k2"));
    sql("UPDATE nodes SET masters = ''");
    for (auto* const store : {a_.get(), b_.get()}) beat(*store);
    EXPECT_EQ(keys_of(*b_), "k1 k2");
    EXPECT_EQ(keys_of(*a_), "");
}

// A promoted standby may lack the newest heartbeats. A number that the others have seen before
// would be silence to them.
TEST_F(HeartbeatTest, NewestCountsAreLost_NextOneIsNew) {
    for (int i = 0; i < 3; ++i) beat(*b_);
    auto const seen = row_of(*b_, beat(*a_));
    sql("UPDATE nodes SET beat = beat - 1 WHERE epoch = " + std::to_string(b_->epoch()));
    beat(*b_);
    EXPECT_GT(row_of(*b_, beat(*a_)).counter, seen.counter);
    EXPECT_FALSE(a_->remove(seen).value());
}

TEST_F(HeartbeatTest, ProcessThatCountedMeanwhile_IsNotRemoved) {
    auto const seen = row_of(*b_, beat(*a_));
    beat(*b_);
    EXPECT_FALSE(a_->remove(seen).value());
    EXPECT_TRUE(beat(*b_).taken);
    write(*b_, create(1, "acme"));
}

// A client that is frozen in a call: its backend holds the lock of the writer's row.
TEST_F(HeartbeatTest, BackendInACall_IsEnded) {
    auto const seen = row_of(*b_, beat(*a_));
    auto stuck = in_schema();
    ASSERT_TRUE(stuck.run(Call{"BEGIN"}, seconds(5)));
    Call hold{
        "SELECT pg_advisory_xact_lock((CASE WHEN oid::bigint > 2147483647 THEN"
        " oid::bigint - 4294967296 ELSE oid::bigint END)::int, $1::bigint::int)"
        " FROM pg_class WHERE oid = 'writers'::regclass"};
    hold.parameters.integer(seen.slot);
    ASSERT_TRUE(stuck.run(hold, seconds(5)));
    Call take{"SELECT slot FROM writers WHERE slot = $1 FOR UPDATE"};
    take.parameters.integer(seen.slot);
    ASSERT_TRUE(stuck.run(take, seconds(5)));
    EXPECT_TRUE(a_->remove(seen).value());
    EXPECT_FALSE(stuck.run(Call{"SELECT 1"}, seconds(5))) << "the server has ended it";
}

TEST_F(HeartbeatTest, Others_LeavesOutWhatThisProcessAppended) {
    write(*a_, create(1, "acme"));
    write(*b_, create(2, "acme"));
    write(*a_, append(2, 1));
    auto const page = a_->others(0, 1'000'000).value();
    ASSERT_EQ(page.rows.size(), 1u);
    EXPECT_EQ(page.rows[0].session.number(), 2u);
    EXPECT_EQ(page.rows[0].frame.first, 1u);
    EXPECT_EQ(page.next, a_->feed_head().value());
    EXPECT_EQ(b_->others(0, 1'000'000).value().rows.size(), 2u);
}

TEST_F(HeartbeatTest, ChangedToken_ChangesTheAccessNumber) {
    auto const before = beat(*a_).access;
    port::TokenChange change;
    change.put = port::TokenRow{.id = "tok_1", .kind = "token", .name = "alice", .role = "read"};
    ASSERT_TRUE(b_->change_tokens(change));
    auto const put = beat(*a_).access;
    EXPECT_GT(put, before);
    EXPECT_EQ(beat(*a_).access, put);
    change = {};
    change.drop = "tok_1";
    ASSERT_TRUE(b_->change_tokens(change));
    EXPECT_GT(beat(*a_).access, put);
}

TEST_F(HeartbeatTest, UseOfARule_DoesNotChangeTheAccessNumber) {
    sql("INSERT INTO rules(id, no, uses, used, sum, data) VALUES('r', NULL, 0, NULL, 0, '')");
    auto const made = beat(*a_).access;
    sql("UPDATE rules SET uses = uses + 1 WHERE id = 'r'");
    EXPECT_EQ(beat(*a_).access, made);
    sql("DELETE FROM rules WHERE id = 'r'");
    EXPECT_GT(beat(*a_).access, made);
}

}  // namespace
}  // namespace dormouse::store::postgres
