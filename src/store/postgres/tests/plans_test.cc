// The plans of all queries on tables of some size: none reads a whole table.
#include "store/postgres/session.h"
#include "store/postgres/statements.h"
#include "store/postgres/testing/test_store.h"

#include <algorithm>
#include <array>
#include <regex>

namespace dormouse::store::postgres {
namespace {

using std::chrono::seconds;

// Small tables, and those of which all rows are asked for.
bool may_read_all(std::string const& table) {
    static std::array<std::string_view, 7> const tables{"meta",  "writers", "tokens",   "devices",
                                                        "rules", "nodes",   "data_keys"};
    return std::ranges::find(tables, table) != tables.end();
}

// Lists that put together what several indexes, or several parts of one, have in order.
bool merges(Read name) {
    return name == Read::due || name == Read::pending_open || name == Read::pending_any ||
           name == Read::pending_by_ref || name == Read::load || name == Read::frames;
}

int parameters_of(std::string const& text) {
    int most = 0;
    static std::regex const one(R"(\$(\d+))");
    for (std::sregex_iterator it(text.begin(), text.end(), one), end; it != end; ++it)
        most = std::max(most, std::stoi((*it)[1]));
    return most;
}

class PostgresPlans : public SharedStores {
protected:
    // 100,000 sessions in 50 projects with five frames, a call and a message each.
    void fill() const {
        sql("INSERT INTO sessions SELECT n, n::text, 'p' || n % 50, 'ops',"
            " CASE WHEN n % 10 = 0 THEN 'a' || n ELSE '' END, '', CASE n % 4 WHEN 0 THEN 'active'"
            " WHEN 1 THEN 'paused' WHEN 2 THEN 'completed' ELSE 'error' END, n, n,"
            " CASE n % 400 WHEN 0 THEN 1 WHEN 4 THEN 2 ELSE 0 END, 5, n"
            " FROM generate_series(1, 100000) n;"
            "INSERT INTO journal SELECT n, f, 1, 0, '[]' FROM generate_series(1, 100000) n,"
            " generate_series(1, 5) f;"
            "INSERT INTO pending SELECT n, 1, 1, n % 3, 'p' || n % 50, 'deploy', n, NULL, 1, 0,"
            " 'r' || n FROM generate_series(1, 100000) n;"
            "INSERT INTO keys SELECT n, int8send(n), 1 FROM generate_series(1, 100000) n;"
            "INSERT INTO day_sums SELECT n / 1000, 'n' || n % 1000, 1, 1"
            " FROM generate_series(1, 100000) n;"
            "INSERT INTO created SELECT int8send(n), n FROM generate_series(1, 100000) n;"
            "INSERT INTO wakeups SELECT n, n, CASE WHEN n % 9 = 0 THEN 7 END"
            " FROM generate_series(1, 100000) n;"
            "INSERT INTO feed SELECT n << 8, n % 100000 + 1, 1, false, 'p' || n % 50"
            " FROM generate_series(1, 200000) n;"
            "INSERT INTO posts SELECT n, 1, 0, n % 4, n, CASE n % 2 WHEN 0 THEN 'webhook' ELSE"
            " 'session' END, 't' || n % 100, NULL, n, 0, 0, '', n, 0, '' FROM"
            " generate_series(1, 100000) n;"
            "INSERT INTO artifacts SELECT n, 1, 0, '' FROM generate_series(1, 100000) n;"
            "INSERT INTO snapshots SELECT n, 1, 1, 0, '' FROM generate_series(1, 100000) n;"
            "INSERT INTO secrets SELECT n, 1, 1, '' FROM generate_series(1, 100000) n;"
            "INSERT INTO sent SELECT n, 1, 1, 't', 'r', '' FROM generate_series(1, 100000) n;"
            "INSERT INTO delivered SELECT int8send(n), '' FROM generate_series(1, 100000) n;"
            "INSERT INTO kept SELECT int8send(n), '', '', n, '', '', '', ''"
            " FROM generate_series(1, 100000) n;"
            "INSERT INTO audit SELECT n, '', '' FROM generate_series(1, 100000) n; ANALYZE");
    }
    // As a reader's connection plans it.
    [[nodiscard]] static std::string plan(Connection& connection, char const* text) {
        std::string nulls;
        for (int i = parameters_of(text); i > 0; --i) nulls += nulls.empty() ? "NULL" : ", NULL";
        auto const arguments = nulls.empty() ? "" : "(" + nulls + ")";
        EXPECT_TRUE(connection.script("PREPARE one AS " + std::string(text), seconds(5))) << text;
        // EXPLAIN's rows come as a table that a function makes of it.
        auto const made =
            connection.script("SET plan.arguments TO '" + arguments + "'", seconds(5));
        EXPECT_TRUE(made);
        auto const rows = connection.run(Call{"SELECT plan_of()"}, seconds(5));
        EXPECT_TRUE(rows) << rows.error().error.detail << text;
        std::ignore = connection.script("DEALLOCATE one", seconds(5));
        return rows ? std::string(rows->text(0, 0)) : "";
    }
};

TEST_F(PostgresPlans, Reads_UseAnIndexOfEachLargeTable) {
    fill();
    sql("CREATE FUNCTION plan_of() RETURNS text LANGUAGE plpgsql AS $$ DECLARE one text;"
        " whole text := ''; BEGIN FOR one IN EXECUTE 'EXPLAIN EXECUTE one'"
        " || current_setting('plan.arguments') LOOP whole := whole || one || E'\\n'; END LOOP;"
        " RETURN whole; END $$");
    Session reader(parse_address(url_).value(), "plans", Role::reader);
    auto& connection = *reader.connection(seconds(5)).value();
    ASSERT_TRUE(connection.script("SET plan_cache_mode TO 'force_generic_plan'", seconds(5)));
    static std::regex const scan(R"(Seq Scan on (\w+))");
    static std::regex const whole(
        R"(Index (?:Only )?Scan using \w+ on (\w+)[^\n]*\n(?!\s+Index Cond))");
    for (int i = 0; i <= static_cast<int>(Read::node); ++i) {
        auto const* const text = postgres::sql(static_cast<Read>(i));
        auto const shown = plan(connection, text);
        EXPECT_NE(shown, "");
        for (std::sregex_iterator it(shown.begin(), shown.end(), scan), end; it != end; ++it)
            EXPECT_TRUE(may_read_all((*it)[1])) << text << "\n" << shown;
        // An index that is read from its beginning to its end.
        for (std::sregex_iterator it(shown.begin(), shown.end(), whole), end; it != end; ++it)
            EXPECT_TRUE(shown.contains("Limit") || may_read_all((*it)[1])) << text << "\n" << shown;
        bool const any = static_cast<Read>(i) == Read::pending_any;
        EXPECT_TRUE(!any || shown.contains("sessions_by_project")) << shown;
        EXPECT_TRUE(!shown.contains("Sort") || merges(static_cast<Read>(i))) << text << shown;
    }
}

}  // namespace
}  // namespace dormouse::store::postgres
