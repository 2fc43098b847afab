#include "store/postgres/schema/migrations.h"

#include <array>
#include <chrono>

namespace dormouse::store::postgres {
namespace {

using std::chrono::seconds;

constexpr auto step_wait = seconds(60);
constexpr std::int64_t version_min = 140'000;

constexpr char server_query[] =
    "SELECT current_setting('server_version_num')::bigint, pg_is_in_recovery()::int::bigint,"
    " current_setting('server_encoding'), current_setting('fsync'),"
    " current_setting('synchronous_commit'), current_setting('full_page_writes'),"
    " (extract(epoch FROM clock_timestamp()) * 1000)::bigint";

// Whether the schema exists, whether we may create it, use it and create in it; user and database.
constexpr char rights_query[] =
    "SELECT (to_regnamespace($1) IS NOT NULL)::int::bigint,"
    " has_database_privilege(current_database(), 'CREATE')::int::bigint,"
    " coalesce(has_schema_privilege(to_regnamespace($1)::oid, 'USAGE')"
    "   AND has_schema_privilege(to_regnamespace($1)::oid, 'CREATE'), false)::int::bigint,"
    " current_user::text, current_database()::text";

// Our marker, and how many relations of the schema have the name of one of our tables or views.
constexpr char tables_query[] =
    "SELECT (SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass($1 || '.meta')"
    "   AND attname IN ('name', 'value')),"
    " (SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid"
    "   AND relname IN ('meta', 'epochs', 'blocks', 'nodes', 'writers', 'sessions', 'journal',"
    "   'pending', 'wakeups', 'keys', 'snapshots', 'created', 'aliases', 'feed', 'artifacts',"
    "   'posts', 'secrets', 'sent', 'delivered', 'kept', 'tokens', 'devices', 'rules', 'audit',"
    "   'settings', 'day_sums', 'data_keys', 'agent_sessions', 'pending_tool_calls',"
    "   'agent_session_messages'))";

// Whether we may use all tables and sequences of the schema, which another role may have made.
constexpr char tables_rights_query[] =
    "SELECT coalesce(bool_and(CASE WHEN relkind = 'S' THEN has_sequence_privilege(oid, 'USAGE')"
    "   ELSE has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND"
    "     has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE') END),"
    "   true)::int::bigint, current_user::text"
    " FROM pg_class WHERE relnamespace = to_regnamespace($1)::oid AND relkind IN ('r', 'S')";

// Before versions_6 there is no write_version.
constexpr char format_query[] =
    "SELECT f.value::bigint, coalesce((SELECT w.value::bigint FROM meta w"
    "   WHERE w.name::text = 'write_version'), f.value::bigint)"
    " FROM meta f WHERE f.name::text = 'format'";

constexpr char types_query[] =
    "SELECT t.typname::text, t.oid::bigint, w.oid::bigint FROM pg_class w JOIN pg_type t"
    " ON t.typnamespace = w.relnamespace AND t.typtype = 'c' AND t.typname LIKE '%\\_1'"
    " WHERE w.oid = 'writers'::regclass";

std::unexpected<Error> refused(std::string text) {
    return fail(Code::wrong_state, std::move(text));
}

std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

// Releases the lock of migrations; a lost connection releases it too.
class MigrationLock {
public:
    MigrationLock(Connection& connection, std::string const& schema)
        : connection_(connection), schema_(schema) {}
    ~MigrationLock() {
        Call call{"SELECT pg_advisory_unlock(hashtext('dormouse'), hashtext($1))"};
        call.parameters.text(schema_);
        if (taken_) std::ignore = connection_.run(call, look_wait);
    }
    MigrationLock(MigrationLock const&) = delete;
    MigrationLock& operator=(MigrationLock const&) = delete;

    // The limits count in this transaction alone; the lock lasts as long as the connection.
    Result<void> take(Connection::Wait wait) {
        std::array calls{Call{limits_sql},
                         Call{"SELECT pg_advisory_lock(hashtext('dormouse'), hashtext($1))"}};
        calls[0].parameters.text(std::to_string(wait.count()));
        calls[1].parameters.text(schema_);
        auto const done = connection_.run(calls, wait + look_wait);
        if (!done && done.error().state == lock_not_available) return late(wait);
        if (!done) return std::unexpected(done.error().error);
        taken_ = true;
        return {};
    }

private:
    static constexpr char limits_sql[] =
        "SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', '0', true)";
    static constexpr std::string_view lock_not_available = "55P03";

    [[nodiscard]] std::unexpected<Error> late(Connection::Wait wait) const {
        auto const s = std::chrono::ceil<std::chrono::seconds>(wait).count();
        return fail(Code::store_unavailable,
                    "Another process has been changing the schema " + quoted(schema_) + " for " +
                        std::to_string(s) +
                        " s: start again when it has ended, or end its connection "
                        "(pg_stat_activity lists it as dormouse/…)");
    }

    Connection& connection_;
    std::string const& schema_;
    bool taken_ = false;
};

Result<void> check_rights(Connection& connection, std::string const& schema) {
    Call call{rights_query};
    call.parameters.text(schema);
    auto const rows = connection.run(call, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    bool const exists = rows->integer(0, 0) != 0;
    auto const user = quoted(rows->text(0, 3));
    if (exists && rows->integer(0, 2) == 0)
        return refused(
            "The role may not use the schema of the store: run GRANT USAGE, CREATE ON "
            "SCHEMA " +
            quoted(schema) + " TO " + user);
    if (!exists && rows->integer(0, 1) == 0)
        return refused(
            "The role may not create the schema of the store: run GRANT CREATE ON "
            "DATABASE " +
            quoted(rows->text(0, 4)) + " TO " + user);
    return {};
}

Result<void> check_tables_rights(Connection& connection, std::string const& schema) {
    Call call{tables_rights_query};
    call.parameters.text(schema);
    auto const rows = connection.run(call, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    if (rows->integer(0, 0) != 0) return {};
    auto const in_schema = " IN SCHEMA " + quoted(schema) + " TO " + quoted(rows->text(0, 1));
    return refused(
        "The role may not use the tables of the store, which another role made: run "
        "GRANT ALL ON ALL TABLES" +
        in_schema + "; GRANT ALL ON ALL SEQUENCES" + in_schema);
}

// GRANT ALL does not let a role change tables and functions of another one.
Result<void> check_owner(Connection& connection, std::string const& schema) {
    Call call{
        "SELECT pg_has_role(current_user, c.relowner, 'USAGE')::int::bigint, current_user::text,"
        " pg_get_userbyid(c.relowner)::text FROM pg_class c"
        " WHERE c.oid = to_regclass(quote_ident($1) || '.meta')"};
    call.parameters.text(schema);
    auto const rows = connection.run(call, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    if (rows->size() != 1 || rows->integer(0, 0) != 0) return {};
    return refused(
        "The store has an older format, and only the owner of its tables can upgrade "
        "it: start this release once with the role " +
        quoted(rows->text(0, 2)) + " instead of " + quoted(rows->text(0, 1)));
}

port::StoreFormat format_row(Rows const& rows) {
    return {.newest = rows.integer(0, 0), .written = rows.integer(0, 1)};
}

// 0: the schema is empty or does not exist.
Result<port::StoreFormat> format_of(Connection& connection, std::string const& schema) {
    Call call{tables_query};
    call.parameters.text(schema);
    auto const found = connection.run(call, look_wait);
    if (!found) return std::unexpected(found.error().error);
    if (found->integer(0, 1) == 0) return port::StoreFormat{};
    auto const foreign = [&] {
        return refused("The schema " + quoted(schema) +
                       " has tables of another program under our names: choose another one with "
                       "?schema=NAME");
    };
    if (found->integer(0, 0) != 2) return foreign();
    auto const format = connection.run(Call{format_query}, look_wait);
    if (!format && format.error().lost) return std::unexpected(format.error().error);
    if (!format || format->size() != 1) return foreign();
    return format_row(*format);
}

Result<bool> has_schema(Connection& connection, std::string const& schema) {
    Call call{"SELECT (to_regnamespace($1) IS NOT NULL)::int"};
    call.parameters.text(schema);
    auto const rows = connection.run(call, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    return rows->integer(0, 0) != 0;
}

std::unexpected<Error> newer(std::string const& schema, port::StoreFormat stored,
                             std::size_t known) {
    return fail(Code::newer_format,
                "The schema " + quoted(schema) + " is written in format " +
                    std::to_string(stored.written) + ", and this release reads up to " +
                    std::to_string(known) +
                    ": use the release of the servers that work on it, or a newer one");
}

// In a schema that no process has used nobody needs an older format.
Result<void> write_newest(Connection& connection, std::size_t known) {
    auto const format = std::to_string(known);
    auto const done = connection.script("UPDATE meta SET value = " + format +
                                            " WHERE name = 'write_version' AND value < " + format +
                                            " AND NOT EXISTS (SELECT FROM writers)",
                                        step_wait);
    if (!done) return std::unexpected(done.error().error);
    return {};
}

Result<void> take_steps(Connection& connection, std::string const& schema,
                        std::span<char const* const> steps) {
    auto const format = format_of(connection, schema);
    if (!format) return std::unexpected(format.error());
    if (!can_use(*format, static_cast<std::int64_t>(steps.size())))
        return newer(schema, *format, steps.size());
    bool const is_older =
        format->newest > 0 && format->newest < static_cast<std::int64_t>(steps.size());
    if (auto const owns = is_older ? check_owner(connection, schema) : Result<void>(); !owns)
        return owns;
    // CREATE SCHEMA IF NOT EXISTS needs the right to create one even if it exists.
    auto const exists = has_schema(connection, schema);
    if (!exists) return std::unexpected(exists.error());
    for (auto step = static_cast<std::size_t>(format->newest); step < steps.size(); ++step) {
        auto const before = step == 0 && !*exists ? "CREATE SCHEMA " + quoted(schema) + ";" : "";
        auto const done = connection.script(before + steps[step] + "; UPDATE meta SET value = " +
                                                std::to_string(step + 1) + " WHERE name = 'format'",
                                            step_wait);
        if (!done) return std::unexpected(done.error().error);
    }
    return write_newest(connection, steps.size());
}

bool has(std::string const& text, std::string_view part) { return text.contains(part); }

}  // namespace

std::span<char const* const> migrations() {
    static std::array const steps{
        tables_1,        types_1,           append_function_1, writer_functions_1, views_1,
        nodes_2,         day_sums_3,        identity_4,        rewrites_5,         versions_6,
        data_keys_7,     append_function_8, aliases_9,         node_keys_10,       deliveries_11,
        deleted_rows_12, deleted_rows_13,   aliases_index_14,  outcomes_15,        kept_index_16};
    return steps;
}

Result<ServerFacts> read_server(Connection& connection) {
    auto const rows = connection.run(Call{server_query}, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    return ServerFacts{.version = rows->integer(0, 0),
                       .standby = rows->integer(0, 1) != 0,
                       .encoding = std::string(rows->text(0, 2)),
                       .fsync = std::string(rows->text(0, 3)),
                       .synchronous_commit = std::string(rows->text(0, 4)),
                       .full_page_writes = std::string(rows->text(0, 5)),
                       .clock = from_ms(rows->integer(0, 6))};
}

std::vector<std::string> warnings_of(ServerFacts const& server, std::optional<Time> now) {
    constexpr Duration most{60'000};
    if (!now) return {};
    auto const ahead = *now - server.clock;
    if (ahead < most && ahead > -most) return {};
    auto const s = std::chrono::abs(std::chrono::duration_cast<std::chrono::seconds>(ahead));
    return {"The clock of this machine is " + std::to_string(s.count()) + " s " +
            (ahead > Duration(0) ? "ahead of" : "behind") +
            " the database's: set both by the same time server"};
}

Result<void> check_server(ServerFacts const& server, bool relaxed) {
    if (server.version < version_min)
        return refused("PostgreSQL 14 or later is needed, this server has version number " +
                       std::to_string(server.version));
    if (server.standby)
        return refused(
            "The server is a standby: name the primary, or several hosts with "
            "target_session_attrs=read-write");
    if (server.encoding != "UTF8")
        return refused("The database has the encoding " + server.encoding +
                       ": create one with ENCODING 'UTF8' TEMPLATE template0");
    if (relaxed) return {};
    for (auto const& [name, value] : {std::pair("fsync", &server.fsync),
                                      std::pair("synchronous_commit", &server.synchronous_commit),
                                      std::pair("full_page_writes", &server.full_page_writes)})
        if (*value == "off")
            return refused("The server has " + std::string(name) +
                           " = off and would lose results that were acknowledged: set it to on, or "
                           "pass --relaxed if that does not matter");
    return {};
}

Result<void> migrate(Connection& connection, std::string const& schema,
                     std::span<char const* const> steps, Connection::Wait lock_wait) {
    if (auto const allowed = check_rights(connection, schema); !allowed) return allowed;
    if (auto const allowed = check_tables_rights(connection, schema); !allowed) return allowed;
    MigrationLock lock(connection, schema);
    if (auto taken = lock.take(lock_wait); !taken) return taken;
    return take_steps(connection, schema, steps);
}

bool can_use(port::StoreFormat stored, std::int64_t known) {
    return stored.newest >= 0 && stored.written <= known;
}

Result<port::StoreFormat> stored_format(Connection& connection) {
    auto const rows = connection.run(Call{format_query}, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    return format_row(*rows);
}

Result<void> check_format(Connection& connection, std::string const& schema) {
    auto const format = format_of(connection, schema);
    if (!format) return std::unexpected(format.error());
    auto const known = static_cast<std::int64_t>(migrations().size());
    if (format->newest == 0)
        return fail(Code::not_found, "The schema " + quoted(schema) + " has no store");
    if (!can_use(*format, known)) return newer(schema, *format, migrations().size());
    if (format->newest >= known) return {};
    return refused("The schema " + quoted(schema) + " has format " +
                   std::to_string(format->newest) + ", this release has " + std::to_string(known) +
                   ": start a server of this release once");
}

Result<Catalogue> read_catalogue(Connection& connection) {
    auto const rows = connection.run(Call{types_query}, look_wait);
    if (!rows) return std::unexpected(rows.error().error);
    Catalogue out;
    for (int i = 0; i < rows->size(); ++i) {
        out.types.emplace(rows->text(i, 0), static_cast<TypeId>(rows->integer(i, 1)));
        // The server's keys have 32 bits with a sign.
        out.lock = static_cast<std::int32_t>(rows->integer(i, 2));
    }
    if (out.types.empty()) return fail(Code::internal, "The schema of the store has no types.");
    return out;
}

Error explain_connect(Error error) {
    auto const& why = error.detail;
    char const* advice = nullptr;
    if (has(why, "database") && has(why, "does not exist"))
        advice = "create it with createdb";
    else if (has(why, "role") && has(why, "does not exist"))
        advice = "create it with createuser";
    else if (has(why, "password"))
        advice = "correct the password in the URL or in PGPASSFILE";
    else if (has(why, "no pg_hba.conf entry"))
        advice = "allow this client in pg_hba.conf";
    if (advice == nullptr) return error;
    error.code = Code::wrong_state;
    error.detail += ": " + std::string(advice);
    error.retry_after_ms = 0;
    return error;
}

}  // namespace dormouse::store::postgres
