#pragma once
// Conditions that an operator should check before they become problems: part of GET /api/doctor.

#include "http/resources/operations/doctor/troubles.h"
#include "port/database.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

struct Concern {
    // agents, archive, backup, clock, database, deliveries, disk, files, key, public_url,
    // receivers, redaction, signal, store, turns, upgrade
    std::string about;
    std::string why;
    std::string next;
};

// When the newest backup of a data directory was made; nullopt: none was made.
inline constexpr char const* last_backup_name = "last-backup";
[[nodiscard]] std::optional<Time> last_backup(std::string const& directory);

// An upgrade of a shared store that nobody has finished yet.
struct Upgrade {
    std::int64_t written = 0;             // the format that is written
    std::int64_t newest = 0;              // the one that is written afterwards
    std::vector<std::string> older = {};  // other servers that do not know it, and their releases
    bool self_older = false;              // this one does not
};

struct ConcernFacts {
    std::map<std::string, std::uint64_t> missing_agents = {};  // and how many sessions they have
    std::map<std::string, std::string> rejected_keys = {};     // by agent
    std::vector<Troubles::FailedTurn> failed_turns = {};       // of the last day
    std::uint64_t given_up = 0;                                // deliveries
    std::vector<FailingReceivers::Failing> receivers = {};     // that fail now
    bool notifies = false;                                     // people are sent links
    std::string public_url = {};                               // of the links
    std::optional<std::uint64_t> disk_free = {}, disk_size = {};
    std::optional<Duration> until_full = {};
    bool clock_jumped = false;
    std::uint64_t files_open = 0, files_max = 0;
    bool backed_up_here = false;  // the store is in the data directory, which `backup` copies
    std::optional<Time> backup = {};
    Time first_start{};
    std::optional<Upgrade> upgrade = {};
    std::string unwritable = {};       // why the store takes no writes; empty: it does
    std::string archive_failure = {};  // why completed sessions are not archived; empty: they are
    std::optional<port::DatabaseStatus> database = {};
    bool removed_remain = false;      // redacted contents are still in the files of the store
    std::string signal_failure = {};  // why the servers cannot tell each other; empty: they can
};

// Pure.
[[nodiscard]] std::vector<Concern> concerns_of(ConcernFacts const& facts, Time now);

}  // namespace dormouse::http
