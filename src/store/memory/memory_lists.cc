// Lists of sessions, waiting calls and wake-ups.
#include "store/memory/memory_rows.h"

#include <algorithm>
#include <limits>
#include <set>

namespace dormouse::store {

using port::PendingRow;

namespace {

bool matches(PendingRow const& row, port::PendingFilter const& filter) {
    bool const status =
        filter.statuses.empty() || std::ranges::count(filter.statuses, row.status) > 0;
    bool const named = filter.external_ref.empty() || filter.external_ref == row.external_ref;
    return status && named && (filter.tool.empty() || filter.tool == row.tool);
}

std::uint32_t waiting_in(MemoryDisk::Session const& session) {
    return static_cast<std::uint32_t>(std::ranges::count_if(session.pending, [](auto const& entry) {
        return entry.second.status == port::PendingStatus::waiting;
    }));
}

}  // namespace

Result<std::vector<port::Due>> MemoryStore::due(Time until, std::optional<port::Due> after,
                                                std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::Due> found;
    auto entry = after ? disk_->wakeups.upper_bound({after->at, after->session.number()})
                       : disk_->wakeups.begin();
    for (; entry != disk_->wakeups.end() && entry->first <= until && found.size() < limit;
         ++entry) {
        auto const& session = disk_->sessions.at(entry->second);
        port::Due due{entry->first, session.row.id};
        due.driver = session.driver;
        if (shared_) due.head = head_of(session);
        found.push_back(due);
    }
    return found;
}

void MemoryStore::list(std::uint64_t number, MemoryDisk::Session const& session) {
    port::SessionRow const& row = session.row;
    auto const put = [place = MemoryDisk::Place(row.project, number)](
                         std::set<MemoryDisk::Place>& list, bool belongs) {
        belongs ? (void)list.insert(place) : (void)list.erase(place);
    };
    put(disk_->open, row.status != "deleted");
    put(disk_->waiting, std::ranges::any_of(session.pending, [](auto const& entry) {
            return entry.second.status == port::PendingStatus::waiting;
        }));
    put(disk_->failing, row.status == "error");
}

Result<std::vector<SessionId>> MemoryStore::sessions_in_error(std::string const& project,
                                                              std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<SessionId> found;
    for (auto place = disk_->failing.lower_bound({project, 0});
         place != disk_->failing.end() && place->first == project && found.size() < limit; ++place)
        found.push_back(disk_->sessions.at(place->second).row.id);
    return found;
}

Result<std::vector<SessionId>> MemoryStore::waiting_sessions(std::optional<SessionId> after,
                                                             std::uint32_t calls) {
    std::scoped_lock const lock(disk_->mutex);
    auto const last = after ? disk_->sessions.find(after->number()) : disk_->sessions.end();
    auto place = last == disk_->sessions.end()
                     ? disk_->waiting.begin()
                     : disk_->waiting.upper_bound({last->second.row.project, last->first});
    std::vector<SessionId> found;
    for (; place != disk_->waiting.end() && calls > 0; ++place) {
        auto const& session = disk_->sessions.at(place->second);
        calls -= std::min(calls, waiting_in(session));
        found.push_back(session.row.id);
    }
    return found;
}

Result<std::uint64_t> MemoryStore::count_waiting(std::string const& project, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::uint64_t count = 0;
    for (auto place = disk_->waiting.lower_bound({project, 0});
         place != disk_->waiting.end() && place->first == project && count < limit; ++place)
        count += waiting_in(disk_->sessions.at(place->second));
    return std::min<std::uint64_t>(count, limit);
}

Result<port::OpenPending> MemoryStore::open_pending(std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    port::OpenPending found;
    for (auto const& [project, number] : disk_->waiting) {
        for (auto const& [key, row] : disk_->sessions.at(number).pending) {
            if (row.status != port::PendingStatus::waiting) continue;
            if (found.count == limit) return found;
            ++found.count;
            found.oldest = std::min(found.oldest.value_or(row.created), row.created);
        }
    }
    return found;
}

Result<std::optional<Time>> MemoryStore::next_due() {
    std::scoped_lock const lock(disk_->mutex);
    if (disk_->wakeups.empty()) return std::nullopt;
    return disk_->wakeups.begin()->first;
}

Result<std::vector<port::SessionRow>> MemoryStore::sessions(std::string const& project,
                                                            std::uint64_t before,
                                                            std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::SessionRow> rows;
    auto const last = before == 0 ? std::numeric_limits<std::uint64_t>::max() : before - 1;
    auto place = disk_->open.upper_bound({project, last});
    while (place != disk_->open.begin() && rows.size() < limit) {
        if ((--place)->first != project) break;
        rows.push_back(disk_->sessions.at(place->second).row);
    }
    return rows;
}

Result<std::vector<port::SessionRow>> MemoryStore::all_sessions(std::uint64_t after,
                                                                std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::SessionRow> rows;
    for (auto entry = disk_->sessions.upper_bound(after); entry != disk_->sessions.end(); ++entry) {
        if (rows.size() >= limit) break;
        rows.push_back(entry->second.row);
    }
    return rows;
}

Result<std::vector<std::string>> MemoryStore::projects(std::string const& after,
                                                       std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<std::string> found;
    auto const next = [&](std::string const& name) {
        return disk_->open.upper_bound({name, std::numeric_limits<std::uint64_t>::max()});
    };
    for (auto place = next(after); place != disk_->open.end() && found.size() < limit;
         place = next(place->first))
        found.push_back(place->first);
    return found;
}

Result<port::SessionCounts> MemoryStore::session_counts(std::string const& project,
                                                        std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    port::SessionCounts out;
    auto const count = [limit](std::uint32_t& of) { of = std::min(of + 1, limit); };
    auto const waits = [](auto const& entry) {
        return entry.second.status == port::PendingStatus::waiting;
    };
    for (auto const& [number, session] : disk_->sessions) {
        std::string const& status = session.row.status;
        if (session.row.project != project || status == "deleted") continue;
        count(out.all);
        if (std::ranges::any_of(session.pending, waits)) count(out.waiting);
        if (status == "paused") count(out.paused);
        if (status == "error") count(out.error);
        if (status == "completed") count(out.completed);
        bool const works = session.driver != 0 || session.wake_at == from_ms(0);
        bool const tries_again = session.row.turn == port::TurnState::running;
        if (status == "active" && (works || tries_again)) count(out.running);
        if (session.row.turn == port::TurnState::failed) count(out.failed);
    }
    return out;
}

Result<std::vector<port::SessionRow>> MemoryStore::aliases(std::string const& project,
                                                           std::string const& alias,
                                                           std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::SessionRow> rows;
    for (auto const& [number, session] : disk_->sessions) {
        bool const named = alias.empty() || session.row.alias == alias;
        if (named && holds_alias(session.row, project)) rows.push_back(session.row);
    }
    std::ranges::stable_sort(rows, {}, &port::SessionRow::alias);
    if (rows.size() > limit) rows.resize(limit);
    return rows;
}

Result<std::uint64_t> MemoryStore::session_bytes(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->sessions.find(id.number());
    if (found == disk_->sessions.end()) return 0;
    std::uint64_t bytes = found->second.snapshot ? found->second.snapshot->state.size() : 0;
    for (auto const& [seq, frame] : found->second.frames) bytes += frame.bytes.size();
    for (auto const& [seq, artifact] : found->second.artifacts) bytes += artifact->size();
    return bytes;
}

Result<std::uint64_t> MemoryStore::journal_bytes(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->sessions.find(id.number());
    if (found == disk_->sessions.end()) return 0;
    std::uint64_t bytes = 0;
    for (auto const& [seq, frame] : found->second.frames) bytes += frame.bytes.size();
    return bytes;
}

Result<std::vector<port::SessionHead>> MemoryStore::heads(std::uint64_t after,
                                                          std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::SessionHead> found;
    for (auto entry = disk_->sessions.upper_bound(after); entry != disk_->sessions.end(); ++entry) {
        if (found.size() >= limit) break;
        if (!entry->second.erased) found.push_back({entry->second.row.id, head_of(entry->second)});
    }
    return found;
}

Result<std::vector<SessionId>> MemoryStore::completed_until(Time at, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::map<std::pair<Time, std::uint64_t>, SessionId> oldest;
    for (auto const& [number, session] : disk_->sessions) {
        port::SessionRow const& row = session.row;
        if (row.status != "completed" || row.updated > at) continue;
        oldest.emplace(std::pair(row.updated, number), row.id);
        if (oldest.size() > limit) oldest.erase(std::prev(oldest.end()));
    }
    std::vector<SessionId> found;
    for (auto const& [place, id] : oldest) found.push_back(id);
    return found;
}

Result<std::vector<port::PendingListed>> MemoryStore::list_pending(
    port::PendingFilter const& filter) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::PendingListed> found;
    for (auto entry = disk_->sessions.rbegin(); entry != disk_->sessions.rend(); ++entry) {
        auto const& [number, session] = *entry;
        if (!filter.project.has(session.row.project) || session.row.status == "deleted") continue;
        if (filter.session && session.row.id != *filter.session) continue;
        for (auto row = session.pending.rbegin(); row != session.pending.rend(); ++row) {
            if (found.size() >= filter.limit) return found;
            auto const& [key, pending] = *row;
            if (filter.before) {
                auto const& before = *filter.before;
                auto const bound =
                    std::tuple(before.session.number(), before.call, before.generation);
                if (std::tuple(number, key.first, key.second) >= bound) continue;
            }
            if (matches(pending, filter)) found.push_back({session.row.id, pending});
        }
    }
    return found;
}

Result<std::vector<PendingRow>> MemoryStore::pending_rows(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<PendingRow> rows;
    if (auto const* const session = find(id); session != nullptr)
        for (auto const& [key, row] : session->pending) rows.push_back(row);
    return rows;
}

Result<std::vector<port::KeyRow>> MemoryStore::key_rows(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::KeyRow> rows;
    if (auto const* const session = find(id); session != nullptr)
        for (auto const& [key, seq] : session->keys) rows.push_back({key, seq});
    return rows;
}

}  // namespace dormouse::store
