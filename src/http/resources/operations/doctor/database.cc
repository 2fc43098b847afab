#include "http/resources/operations/doctor/database.h"

#include <algorithm>

namespace dormouse::http {

namespace {

bool is_synchronous(port::Standby const& one) { return one.sync == "sync" || one.sync == "quorum"; }

// Commits wait until a standby has them.
bool waits_for_standby(port::DatabaseStatus const& status) {
    std::string const& commit = status.synchronous_commit;
    return !status.synchronous_standbys.empty() && commit != "off" && commit != "local";
}

bool lacks_standby(port::DatabaseStatus const& status) {
    return status.primary && waits_for_standby(status) && status.standbys_hidden.empty() &&
           std::ranges::none_of(status.standbys, is_synchronous);
}

}  // namespace

std::string guarantee_of(port::DatabaseStatus const& status) {
    if (!status.primary) return "it is a standby and takes no writes";
    if (!status.fsync || status.synchronous_commit == "off")
        return "a crash of the database can lose the newest acknowledged results, because fsync or "
               "synchronous_commit is off";
    if (lacks_standby(status))
        return "nothing is acknowledged until a synchronous standby is connected";
    if (waits_for_standby(status) && status.synchronous_commit == "remote_write")
        return "the promotion of a synchronous standby loses no acknowledged result, unless both "
               "machines crash at the same time";
    if (waits_for_standby(status) &&
        std::ranges::find(status.standbys, "quorum", &port::Standby::sync) != status.standbys.end())
        return "the promotion of the standby that has most of the log loses no acknowledged result";
    if (waits_for_standby(status))
        return "the promotion of a synchronous standby loses no acknowledged result";
    if (status.standby_count > 0)
        return "the promotion of a standby can lose the newest acknowledged results, because "
               "commits do not wait for it";
    return "acknowledged results survive a crash of the database; without a standby they are lost "
           "with its disk";
}

std::optional<Concern> database_concern(port::DatabaseStatus const& status) {
    if (!lacks_standby(status)) return std::nullopt;
    return Concern{"database", "commits wait for a synchronous standby, and none is connected",
                   "start the standby; or take it out of synchronous_standby_names and reload the "
                   "configuration of PostgreSQL"};
}

}  // namespace dormouse::http
