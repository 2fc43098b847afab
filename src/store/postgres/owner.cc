#include "store/postgres/owner.h"

#include "base/check.h"
#include "base/text/chars.h"

#include <algorithm>
#include <string_view>

namespace dormouse::store::postgres {
namespace {

constexpr char is_locked[] = "55P03";  // the SQLSTATE after lock_timeout

// Before the first migration there are no nodes.
constexpr char newest_node[] =
    "SELECT name, version, to_char(started AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    " FROM nodes ORDER BY epoch DESC LIMIT 1";

std::string owner_text(Connection& connection) {
    auto const rows = connection.run(Call{newest_node}, look_wait);
    if (!rows || rows->size() == 0) return "another process";
    auto out = "the process " + std::string(rows->text(0, 0));
    if (auto const release = rows->text(0, 1); !release.empty())
        out += " of release " + std::string(release);
    return out + ", started " + std::string(rows->text(0, 2));
}

// Waits a few seconds for a process that was just killed; false: another process has the lock. It
// stays when the transaction ends, lock_timeout does not. REQUIRES: `keys` are two expressions.
Result<bool> take_lock(Connection& connection, std::string const& function,
                       std::string const& keys) {
    auto const taken = connection.script(
        "SET LOCAL lock_timeout TO '3s'; SELECT " + function + "(" + keys + ")", look_wait);
    if (taken) return true;
    if (taken.error().state == is_locked) return false;
    return std::unexpected(taken.error().error);
}

Answer<bool> ask_for(Connection& connection, char const* lock, std::string const& schema,
                     std::string const& name = {}) {
    Call call{lock};
    call.parameters.text(schema);
    if (!name.empty()) call.parameters.text(name);
    auto const rows = connection.run(call, look_wait);
    if (!rows) return std::unexpected(rows.error());
    return rows->integer(0, 0) != 0;
}

// Has neither a quote nor a backslash, so it can be part of a literal.
bool is_plain(std::string_view text) { return is_made_of(text, "_-."); }

}  // namespace

Result<void> take_ownership(Connection& connection, std::string const& schema, Use use) {
    CHECK(is_plain(schema));
    auto const taken =
        take_lock(connection, use == Use::sole ? "pg_advisory_lock" : "pg_advisory_lock_shared",
                  "hashtext('dormouse owner'), hashtext('" + schema + "')");
    if (!taken) return std::unexpected(taken.error());
    if (*taken) return {};
    return fail(Code::wrong_state, "The schema \"" + schema + "\" is in use by " +
                                       owner_text(connection) +
                                       ": stop it, or choose another schema with ?schema=NAME");
}

Result<void> take_name(Connection& connection, std::string const& schema, std::string const& name) {
    CHECK(is_plain(schema) && is_plain(name));
    auto const taken =
        take_lock(connection, "pg_advisory_lock",
                  "hashtext('dormouse node " + schema + "'), hashtext('" + name + "')");
    if (!taken) return std::unexpected(taken.error());
    if (*taken) return {};
    return fail(Code::wrong_state,
                "Another server named \"" + name +
                    "\" works on this database: give each server a name of its own, by node in "
                    "[store] or by a data directory of its own (--data)");
}

Answer<bool> retake_name(Connection& connection, std::string const& schema,
                         std::string const& name) {
    return ask_for(connection,
                   "SELECT pg_try_advisory_lock(hashtext('dormouse node ' || $1),"
                   " hashtext($2))::int::bigint",
                   schema, name);
}

Answer<bool> try_sole(Connection& connection, std::string const& schema) {
    return retake_ownership(connection, schema, Use::sole);
}

Answer<void> release_sole(Connection& connection, std::string const& schema) {
    auto const done = ask_for(connection,
                              "SELECT pg_advisory_unlock(hashtext('dormouse owner'),"
                              " hashtext($1))::int::bigint",
                              schema);
    if (!done) return std::unexpected(done.error());
    return {};
}

Answer<bool> retake_ownership(Connection& connection, std::string const& schema, Use use) {
    return ask_for(connection,
                   use == Use::sole
                       ? "SELECT pg_try_advisory_lock(hashtext('dormouse owner'),"
                         " hashtext($1))::int::bigint"
                       : "SELECT pg_try_advisory_lock_shared(hashtext('dormouse owner'),"
                         " hashtext($1))::int::bigint",
                   schema);
}

Answer<bool> may_share(Connection& connection, std::string const& schema) {
    return ask_for(connection,
                   "SELECT pg_try_advisory_xact_lock_shared(hashtext('dormouse owner'),"
                   " hashtext($1))::int::bigint",
                   schema);
}

}  // namespace dormouse::store::postgres
