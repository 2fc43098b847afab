#include "store/sqlite/schema/schema.h"

#include "store/sqlite/schema/statements.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace dormouse::store::sqlite {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string bytes_of(std::filesystem::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string tables_of(TestDirectory const& directory) {
    return directory.text(
        "SELECT group_concat(sql, ';' ORDER BY name) FROM sqlite_schema WHERE sql IS NOT NULL");
}

// The parameters are written ?1 to ?9.
int parameters_of(std::string_view sql) {
    int most = 0;
    for (std::size_t at = sql.find('?'); at < sql.size(); at = sql.find('?', at + 1))
        most = std::max(most, sql.at(at + 1) - '0');
    return most;
}

TEST(Schema, Statements_NeitherScanNorSort) {
    TestDirectory const directory;
    ASSERT_TRUE(SqliteStore::open(directory.path()));
    auto connection = directory.connect();
    std::vector<char const*> statements;
    for (auto const list : {write_statements(), read_statements()})
        statements.insert(statements.end(), list.begin(), list.end());
    ASSERT_GT(statements.size(), 40u);
    for (std::string const sql : statements) {
        std::string explained = "EXPLAIN QUERY PLAN " + sql;
        ASSERT_TRUE(connection.prepare(std::array<char const*, 1>{explained.c_str()})) << sql;
    }
    for (std::size_t i = 0; i < statements.size(); ++i) {
        auto plan = connection.query(i);
        while (plan.next().value()) {
            std::string const step(plan.text(3));
            // For one session that an operator restores: the rows that the feed keeps.
            if (std::string_view(statements[i]).starts_with("UPDATE feed SET k = 0")) continue;
            EXPECT_THAT(step, Not(HasSubstr("SCAN"))) << statements[i];
            EXPECT_THAT(step, Not(HasSubstr("TEMP B-TREE"))) << statements[i];
            EXPECT_THAT(step, Not(HasSubstr("AUTOMATIC"))) << statements[i];
        }
    }
}

TEST(Schema, Reads_WithOtherValues_ArePlannedOnce) {
    TestDirectory const directory;
    ASSERT_TRUE(SqliteStore::open(directory.path()));
    auto connection = directory.connect();
    auto const statements = read_statements();
    ASSERT_TRUE(connection.prepare(statements));
    for (std::int64_t const value : {1, 2, 3}) {
        for (std::size_t i = 0; i < statements.size(); ++i) {
            auto query = connection.query(i);
            for (int n = parameters_of(statements[i]); n > 0; --n) query.bind(value);
            ASSERT_TRUE(query.run()) << statements[i];
        }
    }
    EXPECT_EQ(connection.plans_again(), 0);
}

TEST(Schema, NewerFile_IsRefusedUnchanged) {
    TestDirectory const directory;
    ASSERT_TRUE(SqliteStore::open(directory.path()));
    directory.run("PRAGMA user_version=" + std::to_string(migrations().size() + 1) +
                  "; PRAGMA wal_checkpoint(TRUNCATE)");
    auto const before = bytes_of(directory.file());
    auto const opened = SqliteStore::open(directory.path());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::newer_format);
    EXPECT_THAT(opened.error().detail, HasSubstr("use the release that wrote it"));
    EXPECT_EQ(bytes_of(directory.file()), before);
}

TEST(Schema, ForeignDatabase_IsRefusedUnchanged) {
    TestDirectory const directory;
    directory.run("CREATE TABLE theirs(x)");
    auto const before = bytes_of(directory.file());
    auto const opened = SqliteStore::open(directory.path());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::wrong_state);
    EXPECT_EQ(bytes_of(directory.file()), before);
}

TEST(Schema, EarlierVersion_IsMigrated) {
    TestDirectory const whole;
    ASSERT_TRUE(SqliteStore::open(whole.path()));
    for (std::size_t done = 0; done < migrations().size(); ++done) {
        TestDirectory const directory;
        auto connection = directory.connect();
        ASSERT_TRUE(migrate(connection, migrations().first(done)));
        EXPECT_EQ(version_of(connection).value(), done);
        auto const store = SqliteStore::open(directory.path());
        ASSERT_TRUE(store) << store.error().detail;
        EXPECT_EQ(tables_of(directory), tables_of(whole));
    }
}

// Step 20. The newest turns of the five sessions: one that failed; one that was answered after a
// failure; one that is open after a failure; one that failed before a cut; one that failed in a
// session that has ended.
TEST(Schema, TurnsOfAnEarlierVersion_AreReadFromTheJournal) {
    TestDirectory const directory;
    {
        auto connection = directory.connect();
        ASSERT_TRUE(migrate(connection, migrations().first(19)));
    }
    auto const turn = [](std::string const& finish) {
        return R"(["turn_started",1,{}],["turn_ended",1,{"finishReason":")" + finish + "\"}]";
    };
    std::string const failed = turn("error");
    std::string const answered = turn("stop");
    std::array const journals{
        failed, failed + "," + answered, failed + R"(,["turn_started",1,{}])",
        std::string(R"(["base_state",1,{"lastTurn":{"failed":true}},1],["note",1,{}])"), failed};
    std::string sql = "INSERT INTO names VALUES(1, 'acme');";
    for (std::size_t i = 0; i < journals.size(); ++i) {
        std::string const no = std::to_string(i + 1);
        std::string const status = i == 4 ? "completed" : "active";
        sql += "INSERT INTO sessions VALUES(" + no + ", 's" + no + "', 1, 1, '', '', '" + status +
               "', 1, 1); INSERT INTO journal VALUES(" + no + " << 24 | 1, 4, 0, '[" + journals[i] +
               "]');";
    }
    directory.run(sql);
    auto connection = directory.connect();
    ASSERT_TRUE(migrate(connection, migrations()));
    EXPECT_EQ(connection.integer("SELECT sum(turn << (4 * (no - 1))) FROM sessions").value(),
              0x02002);
}

// Step 24. The row of a session that was deleted has frames while an import is about to restore it.
TEST(Schema, DeletedSessionsOfAnEarlierVersion_LoseTitleAndAlias) {
    TestDirectory const directory;
    {
        auto connection = directory.connect();
        ASSERT_TRUE(migrate(connection, migrations().first(23)));
    }
    directory.run(
        "INSERT INTO names VALUES(1, 'acme');"
        "INSERT INTO sessions(no, id, project, agent, alias, title, status, created, updated)"
        " VALUES(1, 's1', 1, 1, 'a1', 't1', 'deleted', 1, 1),"
        "(2, 's2', 1, 1, 'a2', 't2', 'completed', 1, 1), (3, 's3', 1, 1, 'a3', 't3', 'deleted', 1,"
        " 1); INSERT INTO journal VALUES(3 << 24 | 1, 1, 0, '[]')");
    auto connection = directory.connect();
    ASSERT_TRUE(migrate(connection, migrations()));
    EXPECT_EQ(directory.text("SELECT group_concat(alias || title, ';' ORDER BY no) FROM sessions"),
              ";a2t2;a3t3");
}

// A kill within a step: its transaction is cut off after each of its statements.
TEST(Schema, MigrationKilledInAnyStep_ContinuesFromThatStep) {
    TestDirectory const whole;
    ASSERT_TRUE(SqliteStore::open(whole.path()));
    for (std::size_t step = 0; step < migrations().size(); ++step) {
        std::string const sql = migrations()[step];
        for (auto cut = sql.find(";\n"); cut != std::string::npos; cut = sql.find(";\n", cut + 1)) {
            TestDirectory const directory;
            {
                auto killed = directory.connect();
                ASSERT_TRUE(migrate(killed, migrations().first(step)));
                ASSERT_TRUE(killed.run("BEGIN IMMEDIATE; " + sql.substr(0, cut + 1)));
                EXPECT_TRUE(killed.in_transaction());
            }
            auto const store = SqliteStore::open(directory.path());
            ASSERT_TRUE(store) << store.error().detail;
            EXPECT_EQ(tables_of(directory), tables_of(whole));
        }
    }
}

TEST(Schema, FailedStep_ChangesNothing) {
    TestDirectory const directory;
    auto connection = directory.connect();
    std::array<char const*, 2> const steps{"CREATE TABLE a(x);",
                                           "CREATE TABLE b(x); CREATE TABLE a(x);"};
    EXPECT_FALSE(migrate(connection, steps));
    EXPECT_FALSE(connection.in_transaction());
    EXPECT_EQ(connection.integer("PRAGMA user_version").value(), 1);
    EXPECT_EQ(connection.integer("SELECT count(*) FROM sqlite_schema").value(), 1);
}

}  // namespace
}  // namespace dormouse::store::sqlite
