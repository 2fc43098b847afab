#include "store/postgres/postgres_store.h"

#include "store/memory/conformance.h"
#include "store/memory/conformance_shared_fixture.h"
#include "store/postgres/testing/test_store.h"

namespace dormouse::store {
namespace {

using postgres::open_store;
using postgres::TestServer;

class Postgres final : public StoreUnderTest {
public:
    port::Store& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        store_ = open_store(url_);
    }

private:
    std::string url_ = TestServer::instance()->fresh_url();
    std::unique_ptr<PostgresStore> store_ = open_store(url_);
};

std::unique_ptr<StoreUnderTest> make_postgres() {
    if (!postgres::has_server()) return nullptr;
    return std::make_unique<Postgres>();
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance,
                         testing::Values(StoreKind{"postgres", make_postgres}),
                         testing::PrintToStringParamName());

class SharedPostgres final : public SharedUnderTest {
public:
    port::Store& store(std::size_t place) override { return at(place); }
    // As a process that saw no heartbeat of that one.
    void remove(std::size_t place) override {
        auto& looking = at(place + 1);
        auto const table = looking.beat({looking.epoch(), "", "", false}).value().nodes;
        auto const row = std::ranges::find(table, at(place).epoch(), &port::NodeRow::epoch);
        ASSERT_NE(row, table.end());
        EXPECT_TRUE(looking.remove(*row).value());
    }
    void join(std::size_t place) override { EXPECT_TRUE(at(place).join()); }

private:
    PostgresStore& at(std::size_t place) {
        while (stores_.size() <= place) stores_.push_back(open_store(url_));
        return *stores_[place];
    }

    std::string url_ = TestServer::instance()->fresh_url();
    std::vector<std::unique_ptr<PostgresStore>> stores_;
};

std::unique_ptr<SharedUnderTest> make_shared_postgres() {
    if (!postgres::has_server()) return nullptr;
    return std::make_unique<SharedPostgres>();
}

INSTANTIATE_TEST_SUITE_P(Postgres, SharedConformance,
                         testing::Values(SharedKind{"postgres", 2, make_shared_postgres},
                                         SharedKind{"postgres", 3, make_shared_postgres}),
                         testing::PrintToStringParamName());

class PostgresStoreTest : public postgres::PostgresTest {};

TEST_F(PostgresStoreTest, Feed_KeepsOnlyTheNewestAppends) {
    auto const store = open_store(server().fresh_url(), {.feed_kept = 100});
    expect_that_only_the_newest_100_are_kept(*store);
}

TEST_F(PostgresStoreTest, ServerWithoutFsync_IsRefused) {
    auto const opened = PostgresStore::open(server().fresh_url());
    ASSERT_EQ(code(opened), Code::wrong_state);
    EXPECT_NE(opened.error().detail.find("fsync = off"), std::string::npos);
}

TEST_F(PostgresStoreTest, DatabaseStatus_IsThatOfTheServer) {
    auto const store = open_store(server().fresh_url());
    auto const status = store->database_status();
    ASSERT_TRUE(status) << status.error().detail;
    EXPECT_TRUE(status->primary);
    EXPECT_FALSE(status->fsync) << "as the test server";
    EXPECT_EQ(status->synchronous_commit, "on");
    EXPECT_EQ(status->synchronous_standbys, "");
    EXPECT_NE(status->version, "");
    EXPECT_EQ(status->standby_count, 0U);
    EXPECT_EQ(status->standbys_hidden, "");
}

TEST_F(PostgresStoreTest, TextThatPostgresCannotStore_FailsAlone) {
    auto const store = open_store(server().fresh_url());
    auto bad = create(1, "acme");
    bad.row->title = std::string("a\0b", 3);
    auto worse = create(2, "acme");
    worse.frame.bytes = "[\"\xff\"]";
    std::vector<port::Append> const batch{bad, worse, create(3, "acme")};
    auto const results = store->commit(batch);
    EXPECT_EQ(code(results[0]), Code::bad_value);
    EXPECT_EQ(code(results[1]), Code::bad_value);
    EXPECT_TRUE(results[2]);
    EXPECT_EQ(numbers(store->all_sessions(0, 9).value()), std::vector<std::uint64_t>{3});
}

}  // namespace
}  // namespace dormouse::store
