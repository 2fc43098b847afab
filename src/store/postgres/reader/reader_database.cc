// Reads the status of the database server and its standbys, and what each process has recorded.
#include "store/postgres/reader/reader.h"

#include <algorithm>

namespace dormouse::store::postgres {
namespace {

constexpr char status_sql[] =
    "SELECT current_setting('server_version'), (NOT pg_is_in_recovery())::int::bigint,"
    " (current_setting('fsync') = 'on')::int::bigint, current_setting('synchronous_commit'),"
    " current_setting('synchronous_standby_names')";

// A role without pg_read_all_stats sees the number of standbys and nothing else of them. A running
// backup is not a standby.
constexpr char standbys_sql[] =
    "SELECT count(*) OVER (), application_name, state, sync_state,"
    " greatest(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()"
    "   ELSE pg_current_wal_lsn() END, flush_lsn), 0)::bigint"
    " FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup'"
    " ORDER BY coalesce(sync_priority, 0) = 0, application_name, pid LIMIT 20";

constexpr char ends_sql[] =
    "SELECT slot << 48 | audit_n FROM writers WHERE audit_n > 0 ORDER BY slot";

constexpr char node_keys_sql[] = "SELECT epoch, name, beat, masters FROM nodes ORDER BY epoch";

constexpr char hidden[] =
    "the role of the servers may not read them: GRANT pg_read_all_stats TO that role";

port::Standby standby_of(Rows const& rows, int row) {
    port::Standby out{.name = std::string(rows.text(row, 1)),
                      .state = std::string(rows.text(row, 2)),
                      .sync = std::string(rows.text(row, 3))};
    if (auto const behind = rows.maybe_integer(row, 4))
        out.behind = static_cast<std::uint64_t>(*behind);
    return out;
}

}  // namespace

Result<std::vector<std::uint64_t>> Reader::audit_ends() {
    auto const rows = ask(Call{ends_sql});
    if (!rows) return std::unexpected(rows.error());
    std::vector<std::uint64_t> out;
    for (int row = 0; row < rows->size(); ++row)
        out.push_back(static_cast<std::uint64_t>(rows->integer(row, 0)));
    return out;
}

Result<std::vector<NodeKeys>> Reader::node_keys() {
    auto const rows = ask(Call{node_keys_sql});
    if (!rows) return std::unexpected(rows.error());
    std::vector<NodeKeys> out;
    for (int row = 0; row < rows->size(); ++row)
        out.push_back({.epoch = static_cast<Epoch>(rows->integer(row, 0)),
                       .name = std::string(rows->text(row, 1)),
                       .counter = static_cast<std::uint64_t>(rows->integer(row, 2)),
                       .masters = std::string(rows->text(row, 3))});
    return out;
}

Result<port::DatabaseStatus> Reader::database_status() {
    auto const status = ask(Call{status_sql});
    if (!status) return std::unexpected(status.error());
    port::DatabaseStatus out{.version = std::string(status->text(0, 0)),
                             .primary = status->integer(0, 1) != 0,
                             .fsync = status->integer(0, 2) != 0,
                             .synchronous_commit = std::string(status->text(0, 3)),
                             .synchronous_standbys = std::string(status->text(0, 4))};
    auto const standbys = ask(Call{standbys_sql});
    if (!standbys && standbys.error().code == Code::store_unavailable)
        return std::unexpected(standbys.error());
    if (!standbys) {  // an administrator has hidden the view
        out.standbys_hidden = hidden;
        return out;
    }
    if (standbys->size() > 0)
        out.standby_count = static_cast<std::uint64_t>(standbys->integer(0, 0));
    for (int row = 0; row < standbys->size(); ++row) {
        if (standbys->is_null(row, 2))
            out.standbys_hidden = hidden;
        else
            out.standbys.push_back(standby_of(*standbys, row));
    }
    return out;
}

}  // namespace dormouse::store::postgres
