#pragma once
// The members of the database in the answer of doctor (http/objects/fields.h).

#include "http/objects/fields.h"
#include "http/resources/operations/doctor/database.h"

#include <cstdint>
#include <vector>

namespace dormouse::http {

template <>
inline constexpr auto rows<port::Standby> =
    object("", "", field("name", &port::Standby::name, "Its application_name."),
           field("state", &port::Standby::state, "\"streaming\", unless it is still catching up."),
           field("sync", &port::Standby::sync,
                 "async, potential, quorum or sync, as PostgreSQL reports it."),
           field("behindBytes", &port::Standby::behind,
                 "Bytes of the log that it has not stored yet; null: unknown."));

template <>
inline constexpr auto rows<port::DatabaseStatus> =
    object("", "", field("version", &port::DatabaseStatus::version, "The release of PostgreSQL."),
           field("primary", &port::DatabaseStatus::primary, "false: it is a standby."),
           field("guarantee", guarantee_of,
                 "What happens to acknowledged results when it fails: a sentence for people."),
           field("standbyCount", &port::DatabaseStatus::standby_count),
           field("standbys", &port::DatabaseStatus::standbys, "The first 20."),
           field("standbysHidden", or_null(&port::DatabaseStatus::standbys_hidden),
                 "Why only their number is known, and what to do; else null."));

// Sessions whose outstanding work a server did that is gone, and that no other has taken over yet.
struct OfGoneServers {
    static constexpr std::size_t shown_max = 20;
    std::uint64_t count = 0;
    std::vector<SessionId> shown = {};
};
template <>
inline constexpr auto rows<OfGoneServers> =
    object("", "", field("count", &OfGoneServers::count, "Up to 10,000."),
           field("sessions", &OfGoneServers::shown, "The first 20."));

}  // namespace dormouse::http
