#pragma once
// Reads from the store what GET /api/doctor reports. Each function reads a limited number of rows
// and sessions, and blocks.

#include "http/resources/operations/doctor/doctor_fields.h"
#include "http/resources/operations/metrics/metrics.h"
#include "port/database.h"
#include "port/rewriter.h"
#include "port/store.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

// Work that is overdue by more than this, and that nothing drives, is stuck (P5).
inline constexpr Duration overdue{10'000};
inline constexpr std::uint32_t parked_max = 1'000;
inline constexpr std::uint32_t counted_max = 10'000;  // waiting calls, and sessions at work
inline constexpr std::uint32_t overdue_max = 1'000;
inline constexpr std::uint32_t errors_max = 1'000;
inline constexpr std::uint32_t newest_max = 2'000;  // sessions whose agent is looked up

// An open call of a sleeping session needs this gate, or its own tool, to continue.
struct Need {
    SessionId session;
    std::string gate;
    std::string tool;
};

// A session with outstanding work that continues only on one node.
struct Placed {
    SessionId session;
    std::string node;
};

// Findings in sessions in which a call waits.
struct Waiting {
    std::vector<SessionId> sessions = {};  // those that were read
    std::vector<Need> needs = {};
    std::vector<Finding> in_doubt = {};
    std::vector<Finding> orphaned = {};    // the parent is gone and never reads the outcome
    std::vector<Finding> unreadable = {};  // the session cannot be read and never continues
    std::vector<Placed> placed = {};
};

// Findings that do not come from waiting calls.
struct Overdue {
    std::uint64_t at_work = 0;   // due at time 0, at most counted_max
    std::vector<port::Due> due;  // at a time that has passed, at most overdue_max
    port::OpenPending waiting = {};
    std::optional<Time> next;
    std::vector<port::OutboxRow> mail;  // needs a person to continue
    std::uint64_t given_up = 0;         // deliveries
    Metrics::Disk disk = {};
    std::optional<Time> backup = {};
    std::vector<port::Due> driven = {};  // of those at work, the ones that a process drives
    std::optional<port::DatabaseStatus> database = {};
    bool removed_remain = false;
};

// Sessions with outstanding work, also in the future.
struct AtWork {
    std::optional<port::Due> last = {};  // the last one that was read; nullopt: none
    std::uint64_t read = 0;
    std::vector<Finding> unreadable = {};
    std::vector<Finding> orphaned = {};
    std::vector<Placed> placed = {};
};

// Sessions found by their rows alone; their journals are not read.
struct ByProject {
    std::vector<SessionId> in_error = {};
    std::vector<port::SessionRow> newest = {};
    bool errors_cut = false;
    bool newest_cut = false;
};

[[nodiscard]] Result<Waiting> check_waiting(port::Store& store,
                                            std::optional<SessionId> const& after,
                                            std::uint32_t calls, Time now);
// Skips sessions in which a call waits: check_waiting() reads those.
[[nodiscard]] Result<AtWork> check_effects(port::Store& store,
                                           std::optional<port::Due> const& after,
                                           std::uint32_t times, Time now);
// The places that check_times() examines beside the store.
struct Places {
    std::string directory = {};                // of the data; empty: there is none
    port::Database* database = nullptr;        // null: there is none
    port::RemovedContents* removed = nullptr;  // null: the store has no files
};
[[nodiscard]] Result<Overdue> check_times(port::Store& store, Places const& places, Time now);
[[nodiscard]] Result<ByProject> check_projects(port::ListStore& store);

}  // namespace dormouse::http
