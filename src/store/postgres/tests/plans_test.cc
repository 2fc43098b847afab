// The plans of all queries and writes on tables of some size: none reads a whole table.
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

// Everything that a process writes, and a take-over, by the statistics of the database: the
// statements inside its functions have no plans that can be shown.
class WritesOnLargeTables : public PostgresPlans {
protected:
    static constexpr std::uint64_t first = 200'001;  // of the sessions made here

    // Each part of an append.
    [[nodiscard]] static port::Append whole(PostgresStore const& store, std::uint64_t number,
                                            Seq after) {
        auto one = after == 0 ? create(number, "p7") : append(number, after);
        auto const call = static_cast<CallNo>(after + 1);
        one.epoch = store.epoch();
        one.drive = after % 2 == 0 ? port::Drive::keep : port::Drive::leave;
        one.wake_at = at(static_cast<std::int64_t>(number));
        one.pending = {pause(call)};
        one.keys = {{"key " + std::to_string(after), after + 1}};
        one.outbox = {outbox_row(number, after + 1, 0, "webhook", 10),
                      outbox_row(number, after + 1, 1, "session", 10)};
        one.secrets = {{call, 1, "secret"}};
        one.artifacts = {{after + 1, std::make_shared<std::string const>("bytes")}};
        one.delivered = {
            {Bits128{1, static_cast<std::uint8_t>(number), static_cast<std::uint8_t>(after)},
             Bits128{1}}};
        one.snapshot = port::SnapshotRow{after + 1, 1, "{}"};
        one.day_sums = {{20'000, "a", 5}};
        one.audit = {"a line"};
        if (after == 0) one.create_key = Bits128{9, static_cast<std::uint8_t>(number)};
        one.claims_alias = after == 0;
        if (one.row) one.row->alias = "mine-" + std::to_string(number);
        return one;
    }
    static void write_all(PostgresStore& store, std::uint64_t number) {
        for (Seq after = 0; after < 4; ++after) write(store, whole(store, number, after));
        auto taking = append(number, 4);
        taking.taken = {outbox_row(number, 1, 1, "session", 10).key};
        taking.rows_rebuilt = true;
        taking.rebuilt_after = 3;
        write(store, taking);
        auto driver = append(number, 5);
        driver.epoch = store.epoch();
        driver.frame = {.first = 6, .count = 0, .bytes = ""};
        driver.drive = port::Drive::keep;
        write(store, driver);
        auto last = append(number, 5);
        last.erase = number % 2 == 0;
        write(store, last);
    }
    static void deliver_all(PostgresStore& store, std::uint64_t number) {
        std::vector<port::OutboxKey> const keys{outbox_row(number, 1, 0, "webhook", 10).key,
                                                {session(7), 1, 0}};
        EXPECT_EQ(store.claim(keys, at(20), at(40)).value().size(), 1U);
        port::OutboxUpdate sent{.key = keys[0], .state = port::OutboxState::delivered};
        sent.delivered = at(21);
        sent.sent = port::SentRow{1, 1, "t", "r", ""};
        EXPECT_TRUE(store.update_messages({&sent, 1}));
        EXPECT_TRUE(store.drop_delivered(from_ms(1)));
        EXPECT_TRUE(store.drop_given_up(from_ms(1), 100));
        port::KeptRow kept;
        kept.delivery.key = Bits128{8, static_cast<std::uint8_t>(number)};
        EXPECT_TRUE(store.keep(kept));
        EXPECT_TRUE(store.drop_kept({&kept.delivery.key, 1}));
    }
    void take_over() {
        auto const table = b_->beat({b_->epoch(), "", "", false}).value().nodes;
        auto const row = std::ranges::find(table, a_->epoch(), &port::NodeRow::epoch);
        ASSERT_NE(row, table.end());
        EXPECT_TRUE(b_->remove(*row).value());
        auto mine = append(first + 100, 2);
        mine.epoch = b_->epoch();
        mine.drive = port::Drive::keep;
        write(*b_, mine);
        EXPECT_TRUE(a_->join());
    }
    // Large tables that were read as a whole, or by their index from one end to the other.
    [[nodiscard]] std::string read_whole() const {
        auto connection = in_schema();
        Call const call{
            "SELECT coalesce(string_agg(relname::text || ': ' || seq_scan || ' scans, ' ||"
            "   coalesce(idx_tup_fetch, 0) || ' rows', E'\\n'), '') FROM pg_stat_user_tables"
            " WHERE schemaname = current_schema() AND n_live_tup >= 50000"
            " AND (seq_scan > 0 OR idx_tup_fetch > 50000)"};
        auto const rows = connection.run(call, seconds(5));
        return rows ? std::string(rows->text(0, 0)) : "?";
    }
};

TEST_F(WritesOnLargeTables, Writes_UseAnIndexOfEachLargeTable) {
    a_.reset();
    b_.reset();
    fill();
    // The rows above are not of a writer of this test.
    sql("UPDATE writers SET n = 200001::bigint << 8; UPDATE audit SET n = n + (99::bigint << 48)");
    // The statements that made the rows do not count.
    auto const schema = parse_address(url_)->schema;
    sql("SELECT pg_stat_reset_single_table_counters(c.oid) FROM pg_class c WHERE c.relkind = 'r'"
        " AND c.relnamespace = '" +
        schema + "'::regnamespace");
    sql("ANALYZE");
    a_ = open_store(url_);
    b_ = open_store(url_);
    for (std::uint64_t n = 0; n < 8; ++n) {  // from the sixth call on with generic plans
        write_all(*a_, first + n);
        deliver_all(*a_, first + n);
        EXPECT_TRUE(a_->next_due());
        EXPECT_TRUE(a_->take_numbers());
    }
    write(*a_, create(first + 100, "p7"));
    auto driven = append(first + 100, 1);
    driven.epoch = a_->epoch();
    driven.drive = port::Drive::keep;
    write(*a_, driven);
    take_over();
    a_.reset();  // a connection that ends has reported what it did
    b_.reset();
    EXPECT_EQ(read_whole(), "");
}

}  // namespace
}  // namespace dormouse::store::postgres
