#include "http/resources/operations/doctor/database.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace dormouse::http {

namespace {

bool is_synchronous(port::Standby const& one) { return one.sync == "sync" || one.sync == "quorum"; }

// Commits wait until a standby has them.
bool waits_for_standby(port::DatabaseStatus const& status) {
    std::string const& commit = status.synchronous_commit;
    return !status.synchronous_standbys.empty() && commit != "off" && commit != "local";
}

// How many standbys a commit waits for: "FIRST 2 (a, b)", "ANY 2 (a, b)", "2 (a, b)"; one for a
// list of names.
std::ptrdiff_t standbys_needed(std::string_view names) {
    auto const list = names.find('(');
    if (list == std::string_view::npos) return 1;
    auto const digit = names.substr(0, list).find_first_of("0123456789");
    int needed = 1;
    if (digit != std::string_view::npos)
        std::from_chars(names.data() + digit, names.data() + list, needed);
    return std::max(needed, 1);
}

bool lacks_standby(port::DatabaseStatus const& status) {
    return status.primary && waits_for_standby(status) && status.standbys_hidden.empty() &&
           std::ranges::count_if(status.standbys, is_synchronous) <
               standbys_needed(status.synchronous_standbys);
}

}  // namespace

std::string guarantee_of(port::DatabaseStatus const& status) {
    if (!status.primary) return "it is a standby and takes no writes";
    if (!status.fsync || status.synchronous_commit == "off")
        return "a crash of the database can lose the newest acknowledged results, because fsync or "
               "synchronous_commit is off";
    if (lacks_standby(status))
        return "nothing is acknowledged until more synchronous standbys are connected";
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
    return Concern{
        "database", "commits wait for more synchronous standbys than are connected",
        "start the missing standby; or take it out of synchronous_standby_names and reload the "
        "configuration of PostgreSQL"};
}

}  // namespace dormouse::http
