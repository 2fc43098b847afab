#include "store/postgres/connection.h"

#include "store/postgres/testing/test_server.h"

#include <gmock/gmock.h>

namespace dormouse::store::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

TEST(PostgresAddress, Schema_IsTakenOutOfTheUrl) {
    auto const plain = parse_address("postgres://ann@db/work").value();
    EXPECT_EQ(plain.schema, "dormouse");
    EXPECT_EQ(plain.url, "postgres://ann@db/work");
    auto const named =
        parse_address("postgresql://ann@db/work?sslmode=disable&schema=a_1&connect_timeout=3")
            .value();
    EXPECT_EQ(named.schema, "a_1");
    EXPECT_EQ(named.url, "postgresql://ann@db/work?sslmode=disable&connect_timeout=3");
    EXPECT_EQ(parse_address("postgres://db/work?schema=x").value().url, "postgres://db/work");
}

TEST(PostgresAddress, InvalidUrl_IsRefusedWithoutItsPassword) {
    for (char const* const url :
         {"sqlite://x", "postgres://ann:geheim@[::1/x", "postgres://ann:geheim@db/x?nonsense=1",
          "postgres://ann:geheim@db/x?schema=", "postgres://ann:geheim@db/x?schema=A",
          "postgres://ann:geheim@db/x?schema=1a", "postgres://ann:geheim@db/x?schema=pg_x"}) {
        auto const address = parse_address(url);
        ASSERT_FALSE(address) << url;
        EXPECT_EQ(address.error().code, Code::bad_value);
        EXPECT_THAT(address.error().detail, Not(HasSubstr("geheim")));
    }
}

TEST(PostgresAddress, UnescapedPassword_IsRefusedWithoutAnyPartOfIt) {
    for (char const* const url :
         {"postgres://u:geheim/x@127.0.0.1:5432/d", "postgres://u:12/geheim@127.0.0.1:5432/d",
          "postgres://u:geheim@x@127.0.0.1:5432/d", "postgres://u:x@geheim@127.0.0.1/d",
          "postgres://geheim/u@127.0.0.1/d", "postgres://u:x/geheim@h/d?schema=a",
          "postgres://h:geheim/d", "postgres://h:70000/d", "postgres://u:geheim%zz@h/d"}) {
        auto const address = parse_address(url);
        ASSERT_FALSE(address) << url;
        EXPECT_EQ(address.error().code, Code::bad_value);
        EXPECT_THAT(address.error().detail, Not(HasSubstr("geheim")));
    }
    for (char const* const url :
         {"postgres://u:a%2Fb%40c@127.0.0.1:5432/d", "postgres://h1:1,h2:2/d", "postgres://h1,h2/d",
          "postgres:///d?host=h1,h2&port=,2", "postgres://u:a?b#c@h/d?user=a@b"})
        EXPECT_TRUE(parse_address(url)) << url;
}

TEST(PostgresAddress, Shown_HasNeitherUserNorPassword) {
    auto const text = [](std::string const& url) { return shown(parse_address(url).value()); };
    EXPECT_EQ(text("postgres://ann:geheim@db.example.org:5433/work?schema=ops&sslmode=require"),
              "postgres://db.example.org:5433/work?schema=ops");
    EXPECT_EQ(text("postgresql://ann@/work?host=/run/pg&password=geheim"),
              "postgres:///run/pg/work?schema=dormouse");
    EXPECT_EQ(text("postgres://"), "postgres:///?schema=dormouse");
}

class PostgresConnection : public PostgresTest {};

TEST_F(PostgresConnection, Values_AreReturnedAsTheyWereSent) {
    auto connection = server().connect(server().url());
    Call call{"SELECT $1::bigint, $2::text, $3::bytea, $4::bigint, $5::bigint[], $6::text[]"};
    std::array<std::int64_t, 2> const numbers{-1, std::int64_t{1} << 60};
    std::array<std::string, 2> const texts{"ü", ""};
    std::string const bytes("a\0\xff", 3);
    call.parameters.integer(-7).text("é").bytes(bytes).integer(std::nullopt);
    call.parameters.integers(numbers).texts(texts);
    auto const rows = connection.run(call, seconds(5));
    ASSERT_TRUE(rows) << rows.error().error.detail;
    ASSERT_EQ(rows->size(), 1);
    EXPECT_EQ(rows->integer(0, 0), -7);
    EXPECT_EQ(rows->text(0, 1), "é");
    EXPECT_EQ(rows->text(0, 2), bytes);
    EXPECT_EQ(rows->maybe_integer(0, 3), std::nullopt);
    EXPECT_EQ(integers_of(rows->text(0, 4)), (std::vector<std::int64_t>{-1, 1L << 60}));
    EXPECT_TRUE(integers_of("damaged").empty());
}

TEST_F(PostgresConnection, Calls_AreOneTransaction) {
    auto connection = server().connect(server().url());
    ASSERT_TRUE(connection.script("CREATE TEMPORARY TABLE t(n bigint PRIMARY KEY)", seconds(5)));
    auto const insert = [](std::int64_t n) {
        Call call{"INSERT INTO t VALUES($1::bigint)"};
        call.parameters.integer(n);
        return call;
    };
    std::array const twice{insert(1), insert(2), insert(1)};
    auto const failed = connection.run(twice, seconds(5));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().state, "23505");
    EXPECT_EQ(failed.error().constraint, "t_pkey");
    EXPECT_EQ(failed.error().error.code, Code::conflict);
    EXPECT_FALSE(failed.error().lost);
    std::array const fine{insert(1), insert(2), Call{"SELECT count(*) FROM t"}};
    auto const done = connection.run(fine, seconds(5));
    ASSERT_TRUE(done) << done.error().error.detail;
    EXPECT_EQ(done->at(2).integer(0, 0), 2);
}

TEST_F(PostgresConnection, WrongStatement_LeavesTheConnectionUsable) {
    auto connection = server().connect(server().url());
    for (int i = 0; i < 3; ++i) {
        auto const failed = connection.run(Call{"SELECT nonsense"}, seconds(5));
        ASSERT_FALSE(failed);
        EXPECT_EQ(failed.error().state, "42703");
        EXPECT_EQ(connection.run(Call{"SELECT 5::bigint"}, seconds(5)).value().integer(0, 0), 5);
    }
}

TEST_F(PostgresConnection, LargeValues_PassBothWays) {
    auto connection = server().connect(server().url());
    std::string const large(20'000'000, 'x');
    Call call{"SELECT $1::bytea"};
    call.parameters.bytes(large);
    std::array const both{call, call};
    auto const rows = connection.run(both, seconds(30));
    ASSERT_TRUE(rows) << rows.error().error.detail;
    EXPECT_TRUE(rows->at(1).text(0, 0) == large);
}

TEST_F(PostgresConnection, SlowCall_IsLostAfterItsTime) {
    auto connection = server().connect(server().url());
    auto const late = connection.run(Call{"SELECT pg_sleep(20)"}, milliseconds(100));
    ASSERT_FALSE(late);
    EXPECT_TRUE(late.error().lost);
    EXPECT_EQ(late.error().error.code, Code::store_unavailable);
    EXPECT_FALSE(connection.is_open());
    EXPECT_FALSE(connection.run(Call{"SELECT 1"}, seconds(1)).error().lost) << "nothing was sent";
}

TEST_F(PostgresConnection, TerminatedBackend_IsLost) {
    auto connection = server().connect(server().url());
    auto const pid = connection.run(Call{"SELECT pg_backend_pid()"}, seconds(5)).value();
    server().run("SELECT pg_terminate_backend(" + std::to_string(pid.integer(0, 0)) + ", 5000)");
    auto const lost = connection.run(Call{"SELECT 1"}, seconds(5));
    ASSERT_FALSE(lost);
    EXPECT_TRUE(lost.error().lost);
    EXPECT_FALSE(connection.is_open());
}

TEST_F(PostgresConnection, Warning_IsNoticed) {
    auto connection = server().connect(server().url());
    ASSERT_TRUE(connection.script("DO $$ BEGIN RAISE WARNING 'careful'; END $$", seconds(5)));
    EXPECT_TRUE(connection.warned());
    ASSERT_TRUE(connection.script("DO $$ BEGIN RAISE NOTICE 'fine'; END $$", seconds(5)));
    EXPECT_FALSE(connection.warned());
}

}  // namespace
}  // namespace dormouse::store::postgres
