#include "store/postgres/schema/upgrade.h"

#include "store/postgres/schema/migrations.h"
#include "store/postgres/testing/test_store.h"

#include <gmock/gmock.h>

#include <vector>

namespace dormouse::store::postgres {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(StoreFormat, WrittenFormat_DecidesWhoMayUseTheSchema) {
    EXPECT_TRUE(can_use({.newest = 0, .written = 0}, 9)) << "an empty schema";
    EXPECT_TRUE(can_use({.newest = 9, .written = 9}, 9));
    EXPECT_TRUE(can_use({.newest = 9, .written = 8}, 9)) << "the upgrade waits";
    EXPECT_TRUE(can_use({.newest = 10, .written = 9}, 9)) << "beside a newer release";
    EXPECT_FALSE(can_use({.newest = 10, .written = 10}, 9));
    EXPECT_FALSE(can_use({.newest = -1, .written = -1}, 9));
}

// Two processes of this release, on a schema that was upgraded from the release before.
class PostgresUpgrade : public SharedStores {
protected:
    void SetUp() override {
        SharedStores::SetUp();
        if (!IsSkipped()) sql("UPDATE meta SET value = 8 WHERE name = 'write_version'");
    }
    [[nodiscard]] static std::int64_t known() {
        return static_cast<std::int64_t>(migrations().size());
    }
    [[nodiscard]] port::StoreFormat stored() const { return read_upgrade(url_)->stored; }
    // As the function that releases before versions_6 call.
    [[nodiscard]] Answer<Rows> register_older(std::string const& name) const {
        auto connection = in_schema();
        Call call{"SELECT register_1(1, 'x', $1, '0.0.9')"};
        call.parameters.text(name);
        return connection.run(call, std::chrono::seconds(5));
    }
};

TEST_F(SharedStores, NewSchema_IsWrittenInTheNewestFormat) {
    auto const state = read_upgrade(url_);
    ASSERT_TRUE(state) << state.error().detail;
    EXPECT_EQ(state->stored.written, state->known);
    EXPECT_FALSE(state->waits());
    EXPECT_THAT(state->older(), IsEmpty());
    ASSERT_EQ(state->nodes.size(), 2U);
    EXPECT_EQ(state->nodes[0].format, state->known);
}

TEST_F(PostgresUpgrade, OlderServer_IsNamedAndNothingChanges) {
    ASSERT_TRUE(register_older("web1"));
    EXPECT_TRUE(read_upgrade(url_)->waits());
    auto const finished = finish_upgrade(url_);
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().code, Code::wrong_state);
    EXPECT_THAT(finished.error().detail, HasSubstr("web1 (release 0.0.9, format 8)"));
    EXPECT_EQ(stored().written, 8);
    sql("DELETE FROM nodes WHERE name = 'web1'");
    EXPECT_TRUE(finish_upgrade(url_));
    EXPECT_EQ(stored().written, known());
    EXPECT_TRUE(finish_upgrade(url_)) << "again";
}

TEST_F(PostgresUpgrade, FinishedUpgrade_RefusesOlderServers) {
    ASSERT_TRUE(finish_upgrade(url_));
    auto const refused = register_older("web1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().state, "DM004");
    EXPECT_EQ(number("SELECT count(*) FROM nodes"), 2);
}

TEST_F(PostgresUpgrade, WaitingUpgrade_SurvivesTheStartOfAServer) {
    open_store(url_);
    EXPECT_EQ(stored().written, 8);
    EXPECT_EQ(stored().newest, known());
}

TEST_F(PostgresUpgrade, Heartbeat_BringsTheFormats) {
    auto const beat = a_->beat({.epoch = a_->epoch()});
    ASSERT_TRUE(beat);
    EXPECT_EQ(beat->format, (port::StoreFormat{.newest = known(), .written = 8}));
    EXPECT_EQ(beat->nodes[0].format, known());
    ASSERT_TRUE(finish_upgrade(url_));
    EXPECT_EQ(a_->beat({.epoch = a_->epoch()})->format.written, known());
}

// The release after this one has one migration more.
TEST_F(PostgresUpgrade, NewerRelease_WorksBesideThisOneUntilItIsFinished) {
    std::vector<char const*> newer(migrations().begin(), migrations().end());
    newer.push_back("CREATE TABLE later(n bigint)");
    auto connection = in_schema();
    ASSERT_TRUE(migrate(connection, parse_address(url_)->schema, newer));
    open_store(url_);
    EXPECT_EQ(stored().newest, known() + 1);
    EXPECT_TRUE(finish_upgrade(url_)) << "of this release";
    EXPECT_EQ(stored().written, known());
    sql("UPDATE meta SET value = value + 1 WHERE name = 'write_version'");
    auto const refused = PostgresStore::open(url_, {.relaxed = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::newer_format);
    EXPECT_EQ(read_upgrade(url_).error().code, Code::newer_format);
    EXPECT_EQ(finish_upgrade(url_).error().code, Code::newer_format);
    EXPECT_EQ(a_->join().error().code, Code::newer_format) << "one that was frozen meanwhile";
}

TEST_F(PostgresUpgrade, NoStore_IsSaidWithoutThePassword) {
    auto const missing = read_upgrade(server().fresh_url());
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Code::not_found);
    auto const nowhere = read_upgrade("postgres://ann:geheim@127.0.0.1:1/x?connect_timeout=1");
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error().detail, Not(HasSubstr("geheim")));
}

}  // namespace
}  // namespace dormouse::store::postgres
