#pragma once
// Opens a database: refuses one that cannot be used, and brings the schema up to date.

#include "port/shared_store.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema/schema.h"

#include <dormouse/time.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dormouse::store::postgres {

// Facts that a server reports about itself and the database.
struct ServerFacts {
    std::int64_t version = 0;  // such as 150018
    bool standby = false;
    std::string encoding = "UTF8";
    std::string fsync = "on";
    std::string synchronous_commit = "on";
    std::string full_page_writes = "on";
    Time clock{};
};

// Refuses a server or a database that cannot be used: older than PostgreSQL 14, a standby, not
// UTF-8, fsync, synchronous_commit or full_page_writes off (unless `relaxed`).
[[nodiscard]] Result<void> check_server(ServerFacts const& server, bool relaxed);
[[nodiscard]] Result<ServerFacts> read_server(Connection& connection);

// Returns warnings: the server's clock is 60 s or more from `now`, which was read just before the
// facts. nullopt: the clocks are not compared.
[[nodiscard]] std::vector<std::string> warnings_of(ServerFacts const& server,
                                                   std::optional<Time> now);

// Creates the schema, or takes the migrations that it misses; one process at a time, one
// transaction each. Refuses other tables under our names (wrong_state), a missing privilege
// (wrong_state, with the GRANT) and a schema in which a newer format is written (newer_format),
// which stay unchanged; migrations of a newer release alone do not matter (upgrade.h). Waits up to
// `lock_wait` for another process that migrates, whatever the connection's lock_timeout is; then
// store_unavailable. REQUIRES: the schema's name is in a-z, 0-9 and _.
[[nodiscard]] Result<void> migrate(Connection& connection, std::string const& schema,
                                   std::span<char const* const> steps,
                                   Connection::Wait lock_wait = std::chrono::seconds(60));

// Returns true if a release that knows formats up to `known` can use a schema.
[[nodiscard]] bool can_use(port::StoreFormat stored, std::int64_t known);
// REQUIRES: the search path is the schema, which has a store.
[[nodiscard]] Result<port::StoreFormat> stored_format(Connection& connection);

// Checks that this release reads the schema. Errors: not_found (it has no store), wrong_state (an
// older format, or other tables under our names), newer_format.
[[nodiscard]] Result<void> check_format(Connection& connection, std::string const& schema);

// Facts about the schema that the calls of a connection need.
struct Catalogue {
    std::map<std::string, TypeId, std::less<>> types;  // the parameters' types, by name
    std::int64_t lock = 0;                             // the first key of our advisory locks
};
// REQUIRES: the search path is the schema.
[[nodiscard]] Result<Catalogue> read_catalogue(Connection& connection);

// Makes a failure to connect a sentence that says what to do.
[[nodiscard]] Error explain_connect(Error error);

}  // namespace dormouse::store::postgres
