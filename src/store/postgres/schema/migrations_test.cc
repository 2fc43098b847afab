#include "store/postgres/schema/migrations.h"

#include "store/postgres/testing/test_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace dormouse::store::postgres {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

ServerFacts good_server() { return {.version = 150'018}; }

TEST(PostgresServer, UnusableServer_IsRefusedWithWhatToDo) {
    EXPECT_TRUE(check_server(good_server(), false));
    auto const refusal = [](ServerFacts const& server) {
        auto const checked = check_server(server, true);
        EXPECT_FALSE(checked);
        EXPECT_EQ(checked.error().code, Code::wrong_state);
        return checked.error().detail;
    };
    auto server = good_server();
    server.version = 130'012;
    EXPECT_THAT(refusal(server), HasSubstr("PostgreSQL 14 or later is needed"));
    server = good_server();
    server.standby = true;
    EXPECT_THAT(refusal(server), HasSubstr("name the primary"));
    server = good_server();
    server.encoding = "SQL_ASCII";
    EXPECT_THAT(refusal(server), HasSubstr("ENCODING 'UTF8' TEMPLATE template0"));
}

TEST(PostgresServer, ServerThatLosesResults_IsRefusedUnlessRelaxed) {
    for (auto const setting :
         {&ServerFacts::fsync, &ServerFacts::synchronous_commit, &ServerFacts::full_page_writes}) {
        auto server = good_server();
        server.*setting = "off";
        EXPECT_TRUE(check_server(server, true));
        auto const checked = check_server(server, false);
        ASSERT_FALSE(checked);
        EXPECT_THAT(checked.error().detail, HasSubstr("set it to on"));
    }
}

TEST(PostgresServer, ClockFarFromOurs_IsAWarning) {
    auto server = good_server();
    server.clock = from_ms(1'000'000);
    auto const warnings = [&](std::int64_t ms) { return warnings_of(server, from_ms(ms)); };
    EXPECT_THAT(warnings(1'059'999), testing::IsEmpty());
    EXPECT_THAT(warnings(940'001), testing::IsEmpty());
    EXPECT_THAT(warnings_of(server, std::nullopt), testing::IsEmpty());
    EXPECT_THAT(warnings(1'060'000),
                testing::ElementsAre(HasSubstr("60 s ahead of the database's")));
    EXPECT_THAT(warnings(930'000), testing::ElementsAre(HasSubstr("70 s behind the database's")));
}

class PostgresMigrations : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (!IsSkipped()) schema_ = parse_address(server().fresh_url())->schema;
    }
    [[nodiscard]] Connection in_schema() const {
        auto connection = server().connect(server().url());
        EXPECT_TRUE(connection.script("SET search_path TO " + schema_, seconds(5)));
        return connection;
    }
    [[nodiscard]] static std::int64_t format(Connection& connection) {
        auto const rows =
            connection.run(Call{"SELECT value FROM meta WHERE name = 'format'"}, seconds(5));
        return rows ? rows->integer(0, 0) : -1;
    }

    std::string schema_;
};

TEST_F(PostgresMigrations, ReadServer_IsThisServer) {
    auto connection = in_schema();
    auto const facts = read_server(connection).value();
    EXPECT_GE(facts.version, 140'000);
    EXPECT_FALSE(facts.standby);
    EXPECT_EQ(facts.encoding, "UTF8");
    EXPECT_EQ(facts.fsync, "off") << "of the tests' server";
    EXPECT_EQ(facts.synchronous_commit, "on");
    EXPECT_THAT(warnings_of(facts, std::chrono::time_point_cast<Duration>(
                                       std::chrono::system_clock::now())),
                testing::IsEmpty());
}

TEST_F(PostgresMigrations, EmptySchema_GetsEveryStepOnce) {
    auto connection = in_schema();
    for (int times = 0; times < 2; ++times) {
        auto const done = migrate(connection, schema_, migrations());
        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(format(connection), static_cast<std::int64_t>(migrations().size()));
    }
    auto const catalogue = read_catalogue(connection).value();
    EXPECT_TRUE(catalogue.types.contains("head_1"));
    EXPECT_NE(catalogue.lock, 0);
}

// As after the death of a process between two steps.
TEST_F(PostgresMigrations, EachOlderFormat_IsContinued) {
    for (std::size_t steps = 1; steps < migrations().size(); ++steps) {
        schema_ = parse_address(server().fresh_url())->schema;
        auto connection = in_schema();
        ASSERT_TRUE(migrate(connection, schema_, migrations().first(steps)));
        EXPECT_EQ(format(connection), static_cast<std::int64_t>(steps));
        ASSERT_TRUE(migrate(connection, schema_, migrations()));
        EXPECT_EQ(format(connection), static_cast<std::int64_t>(migrations().size()));
    }
}

// A session with an alias and a title, as SQL.
std::string session_rows(std::string const& no, std::string const& status,
                         std::string const& head) {
    return "INSERT INTO sessions(no, id, project, agent, alias, title, status, created,"
           " updated, turn, head, stamp) VALUES(" +
           no + ", 's" + no + "', 'acme', 'ops', 'a" + no + "', 't" + no + "', '" + status +
           "', 1, 1, 0, " + head + ", 0); INSERT INTO aliases(project, alias, no) VALUES('acme', " +
           "'a" + no + "', " + no + ");";
}

void expect_names(Connection& connection, std::string const& sessions, std::string const& aliases) {
    auto const left = connection.run(
        Call{"SELECT string_agg(alias || title, ';' ORDER BY no),"
             " (SELECT coalesce(string_agg(alias, ';' ORDER BY no), '') FROM aliases)"
             " FROM sessions"},
        seconds(5));
    ASSERT_TRUE(left);
    EXPECT_EQ(left->text(0, 0), sessions);
    EXPECT_EQ(left->text(0, 1), aliases);
}

// Step 13. The row of a session that was deleted has events while an import is about to restore it.
TEST_F(PostgresMigrations, DeletedSessionsOfAnOlderFormat_LoseTitleAndAlias) {
    auto connection = in_schema();
    ASSERT_TRUE(migrate(connection, schema_, migrations().first(11)));
    auto const made =
        connection.script(session_rows("1", "deleted", "0") + session_rows("2", "completed", "1") +
                              session_rows("3", "deleted", "1"),
                          seconds(5));
    ASSERT_TRUE(made) << made.error().error.detail;
    ASSERT_TRUE(migrate(connection, schema_, migrations()));
    expect_names(connection, ";a2t2;a3t3", "a2;a3");
}

// An append of an older release is under way while the functions are replaced.
TEST_F(PostgresMigrations, DeletionBesideTheUpgrade_LosesTitleAndAliasToo) {
    auto connection = in_schema();
    ASSERT_TRUE(migrate(connection, schema_, migrations().first(11)));
    ASSERT_TRUE(connection.script(session_rows("1", "completed", "3"), seconds(5)));
    auto older = in_schema();
    ASSERT_TRUE(older.script(
        "BEGIN; SELECT FROM writers FOR UPDATE;"
        " UPDATE sessions SET status = 'deleted', head = 0; SELECT erase_1(ARRAY[1::bigint])",
        seconds(5)));
    std::atomic<bool> ended = false;
    Result<void> done = fail(Code::internal, "not run");
    {
        std::jthread const thread([&] {
            done = migrate(connection, schema_, migrations());
            ended = true;
        });
        auto looking = in_schema();
        Call const look{
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'writers'::regclass"};
        wait_while([&] {
            auto const rows = looking.run(look, seconds(5));
            return !ended && (!rows || rows->integer(0, 0) == 0);
        });
        EXPECT_TRUE(older.script("COMMIT", seconds(5)));
    }
    ASSERT_TRUE(done) << done.error().detail;
    expect_names(connection, "", "");
}

TEST_F(PostgresMigrations, StepThatFails_LeavesNothing) {
    auto connection = in_schema();
    std::array<char const*, 2> const steps{migrations()[0],
                                           "CREATE TABLE half(n bigint); SELECT nonsense"};
    ASSERT_FALSE(migrate(connection, schema_, steps));
    EXPECT_EQ(format(connection), 1);
    EXPECT_FALSE(connection.run(Call{"SELECT n FROM half"}, seconds(5)));
    EXPECT_TRUE(migrate(connection, schema_, migrations())) << "the lock was released";
}

TEST_F(PostgresMigrations, TwoProcessesAtOnce_TakeEachStepOnce) {
    auto one = in_schema();
    auto other = in_schema();
    Result<void> second = fail(Code::internal, "not run");
    {
        std::jthread const thread([&] { second = migrate(other, schema_, migrations()); });
        auto const first = migrate(one, schema_, migrations());
        EXPECT_TRUE(first) << first.error().detail;
    }
    EXPECT_TRUE(second) << second.error().detail;
    EXPECT_EQ(format(one), static_cast<std::int64_t>(migrations().size()));
}

// Holds the lock that a process has while it migrates.
class OtherProcess {
public:
    OtherProcess(Connection connection, std::string const& schema)
        : connection_(std::move(connection)) {
        Call lock{"SELECT pg_advisory_lock(hashtext('dormouse'), hashtext($1))"};
        lock.parameters.text(schema);
        EXPECT_TRUE(connection_.run(lock, seconds(5)));
    }
    // Until a process waits for the lock.
    void wait_for_another() {
        Call const look{
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"};
        wait_while([&] {
            auto const rows = connection_.run(look, seconds(5));
            return !rows || rows->integer(0, 0) == 0;
        });
    }
    void end() { connection_.close(); }

private:
    Connection connection_;
};

// The migrations up to step `at`, which then does `more` in the same transaction.
class StepsWith {
public:
    StepsWith(std::size_t at, std::string const& more) : last_(migrations()[at] + more) {
        auto const before = migrations().first(at);
        steps_.assign(before.begin(), before.end());
        steps_.push_back(last_.c_str());
    }
    StepsWith(StepsWith const&) = delete;
    StepsWith& operator=(StepsWith const&) = delete;
    [[nodiscard]] std::span<char const* const> all() const { return steps_; }

private:
    std::string last_;
    std::vector<char const*> steps_;
};

constexpr char kill_itself[] = "; SELECT pg_terminate_backend(pg_backend_pid())";
constexpr char never_ends[] = "; SELECT pg_sleep(600)";

class KilledMigrations : public PostgresMigrations {
protected:
    // All relations, columns, functions, types and the formats of the schema.
    [[nodiscard]] static std::string whole(Connection& connection) {
        auto const rows = connection.run(Call{objects_query}, seconds(10));
        EXPECT_TRUE(rows) << rows.error().error.detail;
        return rows ? std::string(rows->text(0, 0)) : "";
    }
    [[nodiscard]] static std::string fresh() {
        auto const schema = parse_address(server().fresh_url())->schema;
        auto connection = server().connect(server().url());
        EXPECT_TRUE(connection.script("SET search_path TO " + schema, seconds(5)));
        EXPECT_TRUE(migrate(connection, schema, migrations()));
        return whole(connection);
    }
    // Another process starts after the kill: it continues from that step, and nothing is twice.
    void expect_continues(std::size_t step, std::string const& expected) const {
        auto connection = in_schema();
        EXPECT_EQ(format(connection), step == 0 ? -1 : static_cast<std::int64_t>(step));
        auto const done = migrate(connection, schema_, migrations());
        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(whole(connection), expected) << "killed in step " << step;
    }
    // Until a step is under way that never ends.
    static void wait_for_the_step() {
        auto looking = server().connect(server().url());
        Call const look{"SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"};
        wait_while([&] {
            auto const rows = looking.run(look, seconds(5));
            return !rows || rows->integer(0, 0) == 0;
        });
    }

private:
    static constexpr char objects_query[] =
        "SELECT string_agg(x, E'\\n' ORDER BY x) FROM ("
        " SELECT c.relkind::text || ' ' || c.relname || ' ' || coalesce((SELECT "
        "string_agg(a.attname"
        "   || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)"
        "   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0), '') AS x"
        "  FROM pg_class c WHERE c.relnamespace = current_schema()::text::regnamespace"
        " UNION ALL SELECT 'f ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid)"
        "   || ') ' || md5(p.prosrc) FROM pg_proc p"
        "   WHERE p.pronamespace = current_schema()::text::regnamespace"
        " UNION ALL SELECT 'm ' || name::text || ' ' || value::text FROM meta) y";
};

TEST_F(KilledMigrations, ConnectionLostInEachStep_NextProcessContinues) {
    auto const expected = fresh();
    for (std::size_t step = 0; step < migrations().size(); ++step) {
        schema_ = parse_address(server().fresh_url())->schema;
        auto killed = in_schema();
        ASSERT_FALSE(migrate(killed, schema_, StepsWith(step, kill_itself).all()));
        expect_continues(step, expected);
    }
}

TEST_F(KilledMigrations, ConnectionLostAfterEachStep_NextProcessContinues) {
    auto const expected = fresh();
    for (std::size_t step = 1; step < migrations().size(); ++step) {
        schema_ = parse_address(server().fresh_url())->schema;
        auto killed = in_schema();
        std::vector<char const*> steps(migrations().begin(),
                                       migrations().begin() + static_cast<std::ptrdiff_t>(step));
        steps.push_back(kill_itself + 2);
        ASSERT_FALSE(migrate(killed, schema_, steps));
        expect_continues(step, expected);
    }
}

TEST_F(KilledMigrations, ServerCrashesInEachStep_NextProcessContinues) {
    auto const expected = fresh();
    for (std::size_t step = 0; step < migrations().size(); ++step) {
        schema_ = parse_address(server().fresh_url())->schema;
        auto killed = in_schema();
        StepsWith const steps(step, never_ends);
        {
            std::jthread const thread([&] { EXPECT_FALSE(migrate(killed, schema_, steps.all())); });
            wait_for_the_step();
            server().crash();
        }
        server().restart();
        expect_continues(step, expected);
    }
}

// Two processes start at once on an empty database, and the first dies in a step.
TEST_F(KilledMigrations, ProcessDiesInAStep_TheOneThatWaitsContinues) {
    auto const expected = fresh();
    for (std::size_t const step : {std::size_t{0}, migrations().size() / 2}) {
        schema_ = parse_address(server().fresh_url())->schema;
        auto killed = in_schema();
        auto other = in_schema();
        StepsWith const steps(step, never_ends);
        Result<void> done = fail(Code::internal, "not run");
        {
            std::jthread const first([&] { EXPECT_FALSE(migrate(killed, schema_, steps.all())); });
            wait_for_the_step();
            std::jthread const second([&] { done = migrate(other, schema_, migrations()); });
            server().run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE wait_event = 'PgSleep'");
        }
        ASSERT_TRUE(done) << done.error().detail;
        EXPECT_EQ(whole(other), expected);
    }
}

TEST_F(PostgresMigrations, OtherProcessTakesLongerThanLockTimeout_IsWaitedFor) {
    auto connection = in_schema();
    ASSERT_TRUE(connection.script("SET lock_timeout TO '1ms'", seconds(5)));
    OtherProcess other(in_schema(), schema_);
    Result<void> done = fail(Code::internal, "not run");
    {
        std::jthread const thread([&] { done = migrate(connection, schema_, migrations()); });
        other.wait_for_another();
        auto looking = in_schema();
        EXPECT_TRUE(looking.run(Call{"SELECT pg_sleep(0.05)"}, seconds(5)));
        other.end();
    }
    EXPECT_TRUE(done) << done.error().detail;
    auto const left = connection.run(Call{"SELECT current_setting('lock_timeout')"}, seconds(5));
    ASSERT_TRUE(left);
    EXPECT_EQ(left->text(0, 0), "1ms") << "as before for what follows";
}

TEST_F(PostgresMigrations, OtherProcessDoesNotEnd_IsNamedAsTheReason) {
    auto connection = in_schema();
    OtherProcess const other(in_schema(), schema_);
    auto const done = migrate(connection, schema_, migrations(), std::chrono::milliseconds(20));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::store_unavailable);
    EXPECT_THAT(done.error().detail, HasSubstr("Another process has been changing the schema"));
    EXPECT_THAT(done.error().detail, HasSubstr('"' + schema_ + '"'));
    EXPECT_TRUE(connection.is_open());
}

TEST_F(PostgresMigrations, NewerFormat_IsRefusedAndStays) {
    auto connection = in_schema();
    ASSERT_TRUE(migrate(connection, schema_, migrations()));
    ASSERT_TRUE(connection.script("UPDATE meta SET value = 99", seconds(5)));
    auto const done = migrate(connection, schema_, migrations());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::newer_format);
    EXPECT_THAT(done.error().detail, HasSubstr("is written in format 99"));
    EXPECT_THAT(done.error().detail, HasSubstr("use the release of the servers that work on it"));
    EXPECT_EQ(format(connection), 99);
}

TEST_F(PostgresMigrations, StepsOfANewerRelease_StayUntilTheirFormatIsWritten) {
    auto connection = in_schema();
    ASSERT_TRUE(migrate(connection, schema_, migrations()));
    ASSERT_TRUE(connection.script("UPDATE meta SET value = 99 WHERE name = 'format'", seconds(5)));
    auto const done = migrate(connection, schema_, migrations());
    EXPECT_TRUE(done) << done.error().detail;
    EXPECT_TRUE(check_format(connection, schema_));
    EXPECT_EQ(format(connection), 99);
}

TEST_F(PostgresMigrations, ForeignTables_AreRefusedAndStay) {
    for (char const* const table :
         {"sessions(n bigint)", "meta(n bigint)", "meta(name text, value bigint)",
          "meta(name int, value int)", "agent_sessions(n bigint)", "pending_tool_calls(n bigint)",
          "agent_session_messages(n bigint)"}) {
        schema_ = parse_address(server().fresh_url())->schema;
        server().run("CREATE SCHEMA " + schema_ + "; CREATE TABLE " + schema_ + "." + table);
        auto connection = in_schema();
        auto const done = migrate(connection, schema_, migrations());
        ASSERT_FALSE(done) << table;
        EXPECT_EQ(done.error().code, Code::wrong_state);
        EXPECT_THAT(done.error().detail, HasSubstr("another program"));
        EXPECT_THAT(done.error().detail, HasSubstr("?schema=NAME"));
        auto const relations = connection.run(
            Call{"SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
                 " AND relkind IN ('r', 'v', 'S')"},
            seconds(5));
        ASSERT_TRUE(relations);
        EXPECT_EQ(relations->integer(0, 0), 1) << table;
    }
}

TEST_F(PostgresMigrations, MissingPrivilege_IsRefusedWithTheGrant) {
    auto const role = schema_ + "_ann";
    server().run("CREATE ROLE " + role + " LOGIN");
    auto const connect = [&] {
        auto made = server().connect(server().url(role));
        EXPECT_TRUE(made.script("SET search_path TO " + schema_, seconds(5)));
        return made;
    };
    auto connection = connect();
    auto done = migrate(connection, schema_, migrations());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::wrong_state);
    EXPECT_THAT(done.error().detail,
                HasSubstr("run GRANT CREATE ON DATABASE \"postgres\" TO \"" + role + "\""));
    server().run("CREATE SCHEMA " + schema_);
    done = migrate(connection, schema_, migrations());
    ASSERT_FALSE(done);
    auto const grant = "GRANT USAGE, CREATE ON SCHEMA \"" + schema_ + "\" TO \"" + role + "\"";
    EXPECT_THAT(done.error().detail, HasSubstr("run " + grant));
    server().run(grant);
    done = migrate(connection, schema_, migrations());
    EXPECT_TRUE(done) << done.error().detail;
}

TEST_F(PostgresMigrations, RoleThatDoesNotOwnTheTables_IsRefusedBeforeAnUpgrade) {
    auto const role = schema_ + "_ann";
    server().run("CREATE SCHEMA " + schema_ + "; CREATE ROLE " + role + " LOGIN");
    auto owner = in_schema();
    auto const older = migrations().first(migrations().size() - 1);
    ASSERT_TRUE(migrate(owner, schema_, older));
    server().run("GRANT USAGE, CREATE ON SCHEMA " + schema_ + " TO " + role +
                 "; GRANT ALL ON ALL TABLES IN SCHEMA " + schema_ + " TO " + role +
                 "; GRANT ALL ON ALL SEQUENCES IN SCHEMA " + schema_ + " TO " + role);
    auto connection = server().connect(server().url(role));
    ASSERT_TRUE(connection.script("SET search_path TO " + schema_, seconds(5)));
    EXPECT_TRUE(migrate(connection, schema_, older)) << "nothing is to be done";
    auto const done = migrate(connection, schema_, migrations());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::wrong_state);
    EXPECT_THAT(
        done.error().detail,
        HasSubstr("start this release once with the role \"postgres\" instead of \"" + role));
    EXPECT_EQ(format(connection), static_cast<std::int64_t>(older.size()));
    EXPECT_TRUE(migrate(owner, schema_, migrations()));
    EXPECT_TRUE(migrate(connection, schema_, migrations()));
}

TEST_F(PostgresMigrations, MissingDatabaseOrRole_SaysWhatToDo) {
    auto const refusal = [](std::string const& url) {
        auto const made =
            Connection::open(parse_address(url).value(), "test", std::chrono::seconds(5));
        EXPECT_FALSE(made);
        auto const error = explain_connect(made.error().error);
        EXPECT_EQ(error.code, Code::wrong_state);
        return error.detail;
    };
    EXPECT_THAT(refusal(server().url("postgres", "nowhere")), HasSubstr("createdb"));
    EXPECT_THAT(refusal(server().url("nobody")), HasSubstr("createuser"));
}

TEST(PostgresServer, UnreachableServer_MayBeTriedAgain) {
    auto const made = Connection::open(parse_address("postgres://ann:geheim@127.0.0.1:1/x").value(),
                                       "test", seconds(5));
    ASSERT_FALSE(made);
    auto const error = explain_connect(made.error().error);
    EXPECT_EQ(error.code, Code::store_unavailable);
    EXPECT_THAT(error.detail, testing::Not(HasSubstr("geheim")));
}

}  // namespace
}  // namespace dormouse::store::postgres
