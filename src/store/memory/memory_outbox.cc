// Outbox messages of sessions.
#include "store/memory/memory_store.h"

#include <algorithm>

namespace dormouse::store {

namespace {

// Returns true if the row still is as the attempt began.
bool is_as(port::OutboxRow const& row, std::optional<port::OutboxAttempt> const& attempt) {
    return !attempt || (row.state == port::OutboxState::pending &&
                        port::OutboxAttempt{row.attempts, row.next_at} == *attempt);
}

void put(port::OutboxRow& row, port::OutboxUpdate const& update) {
    row.state = update.state;
    row.next_at = update.next_at;
    row.attempts = update.attempts;
    row.last_status = update.last_status;
    row.last_error = update.last_error;
    row.delivered = update.delivered;
}

bool is_same(port::SentRow const& a, port::SentRow const& b) {
    return a.call == b.call && a.generation == b.generation && a.target == b.target &&
           a.reference == b.reference;
}

}  // namespace

Result<void> MemoryStore::update_messages(std::span<port::OutboxUpdate const> updates) {
    std::scoped_lock const lock(disk_->mutex);
    for (port::OutboxUpdate const& update : updates) {
        auto const found = disk_->outbox.find(update.key);
        bool const changes = found != disk_->outbox.end() && is_as(found->second, update.attempt);
        if (changes && update.gone) disk_->outbox.erase(found);
        if (update.gone) continue;
        if (changes) put(found->second, update);
        auto const from = disk_->sessions.find(update.key.from.number());
        if (from == disk_->sessions.end() || from->second.erased) continue;
        auto& sent = from->second.sent;
        for (auto const* const row : {&update.sent, &update.closed})
            if (*row) std::erase_if(sent, [&](auto const& one) { return is_same(one, **row); });
        if (update.sent) sent.push_back(*update.sent);
    }
    return {};
}

Result<std::vector<port::OutboxRow>> MemoryStore::due_messages(std::string const& kind, Time until,
                                                               std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::map<std::tuple<Time, std::uint64_t, Seq, std::uint32_t>, port::OutboxRow const*> due;
    for (auto const& [key, row] : disk_->outbox) {
        bool const waits = row.state == port::OutboxState::pending && row.kind == kind;
        if (!waits || row.next_at > until) continue;
        due.emplace(std::tuple(row.next_at, key.from.number(), key.seq, key.n), &row);
        if (due.size() > limit) due.erase(std::prev(due.end()));
    }
    std::vector<port::OutboxRow> found;
    for (auto const& [place, row] : due) found.push_back(*row);
    return found;
}

Result<std::vector<port::DueMessage>> MemoryStore::due_by_target(Time until,
                                                                 std::string const& after,
                                                                 std::uint32_t each,
                                                                 std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    using Place = std::tuple<Time, std::uint64_t, Seq, std::uint32_t>;
    std::map<std::string, std::map<Place, port::OutboxKey>> by_target;
    for (auto const& [key, row] : disk_->outbox) {
        bool const waits = row.state == port::OutboxState::pending && row.kind != "session";
        if (!waits || row.next_at > until || row.target <= after) continue;
        auto& due = by_target[row.target];
        due.emplace(Place(row.next_at, key.from.number(), key.seq, key.n), key);
        if (due.size() > each) due.erase(std::prev(due.end()));
    }
    std::vector<port::DueMessage> found;
    for (auto const& [target, due] : by_target) {
        if (found.size() >= limit) break;
        for (auto const& [place, key] : due)
            found.push_back({key, target, disk_->outbox.at(key).attempts});
    }
    return found;
}

Result<std::optional<port::OutboxRow>> MemoryStore::outbox_message(port::OutboxKey const& key) {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->outbox.find(key);
    if (found == disk_->outbox.end()) return std::nullopt;
    return found->second;
}

Result<std::vector<port::OutboxRow>> MemoryStore::list_messages(port::OutboxFilter const& filter) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::OutboxRow> found;
    for (auto entry = disk_->outbox.rbegin(); entry != disk_->outbox.rend(); ++entry) {
        auto const& [key, row] = *entry;
        if (found.size() == filter.limit) break;
        if (filter.before && !(key < *filter.before)) continue;
        bool const shown = row.kind != "session" && row.kind != "held" &&
                           (!filter.state || row.state == *filter.state);
        auto const* const sender = find(key.from);
        if (shown && sender != nullptr && sender->row.project == filter.project)
            found.push_back(row);
    }
    return found;
}

Result<std::optional<std::string>> MemoryStore::project_of(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr) return std::nullopt;
    return session->row.project;
}

Result<void> MemoryStore::drop_delivered(Time until) {
    std::scoped_lock const lock(disk_->mutex);
    std::erase_if(disk_->outbox, [&](auto const& one) {
        port::OutboxRow const& row = one.second;
        return row.state == port::OutboxState::delivered && row.delivered && *row.delivered < until;
    });
    return {};
}

namespace {

bool was_given_up(port::OutboxRow const& row, Time until) {
    bool const dead =
        row.state == port::OutboxState::dead || row.state == port::OutboxState::disabled;
    return dead && row.kind != "session" && row.kind != "held" && row.next_at < until &&
           row.created < until;
}

}  // namespace

Result<std::uint64_t> MemoryStore::count_given_up(Time until, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    auto const count = std::ranges::count_if(
        disk_->outbox, [&](auto const& one) { return was_given_up(one.second, until); });
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(count), limit);
}

Result<void> MemoryStore::drop_given_up(Time until, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::uint32_t dropped = 0;
    std::erase_if(disk_->outbox, [&](auto const& one) {
        bool const goes = dropped < limit && was_given_up(one.second, until);
        if (goes) ++dropped;
        return goes;
    });
    return {};
}

}  // namespace dormouse::store
