#include "store/postgres/session.h"

#include <string_view>

namespace dormouse::store::postgres {
namespace {

// A standby need not confirm a heartbeat. A speaker commits nothing that must be durable.
std::string_view commit_of(Role role) {
    switch (role) {
        case Role::heartbeat: return "SET synchronous_commit TO local;";
        case Role::speaker: return "SET synchronous_commit TO off;";
        case Role::writer:
        case Role::reader: break;
    }
    return {};
}

// A reader's call is one transaction with one view of the data. Every query has an index, whose
// order it needs. These settings make the planner choose it: it does not know the size of a table
// that has just begun to grow, and a connection keeps its plans.
std::string settings_of(Role role, std::string const& schema) {
    auto const path =
        "SET search_path TO \"" + schema +
        "\"; SET enable_seqscan TO off; SET enable_bitmapscan TO off;"
        "SET enable_hashjoin TO off; SET enable_mergejoin TO off;"
        "SET random_page_cost TO 1.1; SET enable_incremental_sort TO off; SET jit TO off;"
        "SET tcp_keepalives_idle TO 5; SET tcp_keepalives_interval TO 2;"
        "SET tcp_keepalives_count TO 3;";
    if (role == Role::reader)
        return path +
               "SET default_transaction_isolation TO 'repeatable read';"
               "SET default_transaction_read_only TO on; SET statement_timeout TO '10s'";
    return path + std::string(commit_of(role)) +
           "SET default_transaction_isolation TO 'read committed'; SET lock_timeout TO '2s';"
           "SET statement_timeout TO '10s'; SET idle_in_transaction_session_timeout TO '5s';"
           "SET client_connection_check_interval TO '1s';"
           "SET plan_cache_mode TO 'force_generic_plan'";
}

}  // namespace

Answer<Connection*> Session::connection(Connection::Wait wait) {
    if (live_ && live_->is_open()) return &*live_;
    live_.reset();
    auto made = Connection::open(address_, name_, wait);
    if (!made) return std::unexpected(std::move(made.error()));
    if (auto set = made->script(settings_of(role_, address_.schema), wait); !set)
        return std::unexpected(std::move(set.error()));
    live_ = std::move(*made);
    ++made_;
    return &*live_;
}

}  // namespace dormouse::store::postgres
