#include "store/memory/memory_store.h"

#include "base/check.h"

#include <algorithm>
#include <numeric>

namespace dormouse::store {
namespace {

using port::Append;
using port::Frame;
using port::PendingRow;

// The limit of the default store's key, so that what runs here runs there.
constexpr Seq seq_end = Seq{1} << 24;

Seq last_of(Frame const& frame) { return frame.first + frame.count - 1; }

Seq head_of(MemoryDisk::Session const& session) {
    return session.frames.empty() ? 0 : last_of(session.frames.rbegin()->second);
}

// Nobody else of the project may have its alias.
bool holds_alias(port::SessionRow const& row, std::string const& project) {
    bool const live = row.status != "completed" && row.status != "deleted";
    return live && !row.alias.empty() && row.project == project;
}

bool matches(PendingRow const& row, port::PendingFilter const& filter) {
    bool const status =
        filter.statuses.empty() || std::ranges::count(filter.statuses, row.status) > 0;
    bool const named = filter.external_ref.empty() || filter.external_ref == row.external_ref;
    return status && named && (filter.tool.empty() || filter.tool == row.tool);
}

}  // namespace

MemoryStore::MemoryStore(std::shared_ptr<MemoryDisk> disk, std::size_t feed_kept)
    : disk_(std::move(disk)), feed_kept_(feed_kept) {
    std::scoped_lock const lock(disk_->mutex);
    epoch_ = ++disk_->epoch;
}

std::uint64_t MemoryStore::next_session_number() {
    std::scoped_lock const lock(disk_->mutex);
    std::uint64_t largest = disk_->sessions.empty() ? 0 : disk_->sessions.rbegin()->first;
    for (auto const& [key, row] : disk_->posts)
        if (row.makes) largest = std::max(largest, row.makes->number());
    return largest + 1;
}

std::vector<Result<void>> MemoryStore::commit(std::span<Append const> appends) {
    std::vector<std::size_t> order(appends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(appends[i].session.number(), i); });

    std::vector<Result<void>> results(appends.size());
    std::scoped_lock const lock(disk_->mutex);
    for (std::size_t const i : order) {
        results[i] = check(appends[i]);
        if (results[i]) apply(appends[i]);
    }
    return results;
}

MemoryDisk::Session const* MemoryStore::find(SessionId session) const {
    auto const found = disk_->sessions.find(session.number());
    if (found == disk_->sessions.end() || found->second.row.id != session) return nullptr;
    return &found->second;
}

Result<void> MemoryStore::check(Append const& append) const {
    CHECK(append.session.number() > 0);
    CHECK(append.frame.first == append.after + 1 && append.frame.count > 0);
    CHECK(!append.row || append.row->id == append.session);
    if (last_of(append.frame) >= seq_end)
        return fail(Code::too_large, "the session's journal is full");
    if (append.after == 0) {
        if (disk_->sessions.contains(append.session.number()))
            return fail(Code::conflict, append.session.text() + " exists");
        if (!append.row) return fail(Code::internal, "a session's first append needs its row");
    } else {
        auto const* const session = find(append.session);
        if (session == nullptr || session->erased)
            return fail(Code::conflict, append.session.text() + " is not there");
        if (head_of(*session) != append.after)
            return fail(Code::conflict, append.session.text() + " has moved on");
    }
    if (append.claims_alias && alias_taken(append))
        return fail(Code::alias_taken,
                    "Another session holds the alias '" + append.row->alias + "'.");
    return check_keys(append);
}

bool MemoryStore::alias_taken(Append const& append) const {
    auto const* const session = find(append.session);
    auto const& project = session ? session->row.project : append.row->project;
    return std::ranges::any_of(disk_->sessions, [&](auto const& entry) {
        port::SessionRow const& row = entry.second.row;
        return row.id != append.session && row.alias == append.row->alias &&
               holds_alias(row, project);
    });
}

// A key that is written twice would name two events: the append that brings it again was decided
// without it.
Result<void> MemoryStore::check_keys(Append const& append) const {
    if (append.create_key && disk_->created.contains(*append.create_key))
        return fail(Code::conflict, "a session with this create key exists");
    if (append.erase) return {};
    auto const* const session = find(append.session);
    std::set<std::string_view> fresh;
    for (auto const& row : append.keys) {
        CHECK(row.key.size() <= 64);
        bool const taken = session != nullptr && session->keys.contains(row.key) &&
                           !(append.rows_anew && session->keys.at(row.key) > append.anew_after);
        if (!fresh.insert(row.key).second || taken)
            return fail(Code::conflict, "a key of " + append.session.text() + " is taken");
    }
    return {};
}

// REQUIRES: check(append) passed.
void MemoryStore::apply(Append const& append) {
    auto const number = append.session.number();
    auto& session = disk_->sessions[number];
    if (append.row) {
        // The id, the project and the time of creation never change.
        bool const first = append.after == 0;
        auto row = *append.row;
        if (!first) {
            row.project = session.row.project;
            row.created = session.row.created;
        }
        session.row = std::move(row);
    }
    if (append.create_key) disk_->created.emplace(*append.create_key, number);
    for (auto const& row : append.delivered) {
        disk_->delivered.emplace(row.key, row.digest);
        disk_->kept.erase(row.key);
    }
    add_to_feed(append);
    for (auto const& row : append.posts) disk_->posts.emplace(row.key, row);
    for (auto const& key : append.taken) disk_->posts.erase(key);
    for (auto const& line : append.audit) add_to_audit(line);
    if (append.erase) return erase(number, session);
    session.frames.emplace(append.frame.first, append.frame);
    if (append.wake_changed) set_wake(number, session, append.wake_at);
    if (append.base) cut(session, *append.base);
    if (append.rows_anew) {
        std::erase_if(session.pending,
                      [&](auto const& entry) { return entry.second.paused > append.anew_after; });
        std::erase_if(session.keys,
                      [&](auto const& entry) { return entry.second > append.anew_after; });
    }
    for (auto const& row : append.pending)
        session.pending.insert_or_assign(std::pair(row.call, row.generation), row);
    for (auto const& row : append.keys) session.keys.emplace(row.key, row.seq);
    for (auto const& row : append.artifacts) session.artifacts.emplace(row.seq, row.bytes);
    for (auto const& row : append.secrets)
        session.secrets.insert_or_assign({row.call, row.generation}, row.secret);
    if (append.snapshot) session.snapshot = append.snapshot;
}

void MemoryStore::cut(MemoryDisk::Session& session, port::BaseRow const& base) {
    CHECK(last_of(base.frame) < last_of(session.frames.rbegin()->second));
    std::erase_if(session.frames,
                  [&](auto const& entry) { return entry.first <= base.frame.first; });
    session.frames.emplace(base.frame.first, base.frame);
    std::erase_if(session.pending, [&](auto const& entry) {
        PendingRow const& row = entry.second;
        return row.paused <= base.through && row.settled > 0 && row.settled <= base.through;
    });
    std::erase_if(session.keys, [&](auto const& entry) {
        return entry.second <= base.through && base.keys.contains(entry.first.front());
    });
    std::erase_if(session.secrets,
                  [&](auto const& entry) { return entry.first.first <= base.call; });
    std::erase_if(session.artifacts, [&](auto const& entry) {
        return entry.first <= base.through && std::ranges::count(base.artifacts, entry.first) == 0;
    });
}

void MemoryStore::add_to_feed(Append const& append) {
    disk_->feed.push_back({++disk_->feed_head, append.session, append.frame.first, append.erase});
    if (disk_->feed.size() > feed_kept_) disk_->feed.pop_front();
}

void MemoryStore::set_wake(std::uint64_t number, MemoryDisk::Session& session,
                           std::optional<Time> wake_at) {
    if (session.wake_at) disk_->owed.erase({*session.wake_at, number});
    session.wake_at = wake_at;
    if (wake_at) disk_->owed.insert({*wake_at, number});
}

void MemoryStore::erase(std::uint64_t number, MemoryDisk::Session& session) {
    set_wake(number, session, std::nullopt);
    auto row = std::move(session.row);
    row.status = "deleted";
    session = {};
    session.row = std::move(row);
    session.erased = true;
}

Result<port::Loaded> MemoryStore::load(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    port::Loaded loaded;
    auto const* const session = find(id);
    if (session == nullptr) return loaded;
    loaded.row = session->row;
    loaded.snapshot = session->snapshot;
    loaded.wake_known = true;
    loaded.wake_at = session->wake_at;
    Seq const after = session->snapshot ? session->snapshot->seq : 0;
    for (auto const& [first, frame] : session->frames)
        if (last_of(frame) > after) loaded.tail.push_back(frame);
    return loaded;
}

Result<std::vector<Frame>> MemoryStore::page(SessionId id, Seq from, std::size_t max_bytes) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<Frame> frames;
    auto const* const session = find(id);
    if (session == nullptr) return frames;
    std::size_t bytes = 0;
    for (auto const& [first, frame] : session->frames) {
        if (last_of(frame) < from) continue;
        if (!frames.empty() && bytes >= max_bytes) break;
        bytes += frame.bytes.size();
        frames.push_back(frame);
    }
    return frames;
}

Result<std::vector<Seq>> MemoryStore::lookup(SessionId id, std::span<std::string const> keys) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<Seq> seqs(keys.size(), 0);
    auto const* const session = find(id);
    if (session == nullptr) return seqs;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto const found = session->keys.find(keys[i]);
        if (found != session->keys.end()) seqs[i] = found->second;
    }
    return seqs;
}

Result<std::optional<PendingRow>> MemoryStore::pending(SessionId id, CallNo call,
                                                       Generation generation) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr) return std::nullopt;
    auto const found = session->pending.find({call, generation});
    if (found == session->pending.end()) return std::nullopt;
    return found->second;
}

Result<std::vector<port::Due>> MemoryStore::due(Time until, std::optional<port::Due> after,
                                                std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::Due> found;
    auto entry =
        after ? disk_->owed.upper_bound({after->at, after->session.number()}) : disk_->owed.begin();
    for (; entry != disk_->owed.end() && entry->first <= until && found.size() < limit; ++entry)
        found.push_back({entry->first, disk_->sessions.at(entry->second).row.id});
    return found;
}

Result<std::vector<SessionId>> MemoryStore::waiting_sessions(std::optional<SessionId> after,
                                                             std::uint32_t calls) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<SessionId> found;
    for (auto const& [number, session] : disk_->sessions) {
        if (after && number <= after->number()) continue;
        for (auto const& [key, row] : session.pending) {
            if (row.status != port::PendingStatus::waiting) continue;
            if (calls-- == 0) return found;
            SessionId const& id = session.row.id;
            if (found.empty() || found.back() != id) found.push_back(id);
        }
    }
    return found;
}

Result<port::OpenPending> MemoryStore::open_pending(std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    port::OpenPending found;
    for (auto const& [number, session] : disk_->sessions) {
        for (auto const& [key, row] : session.pending) {
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
    if (disk_->owed.empty()) return std::nullopt;
    return disk_->owed.begin()->first;
}

Result<std::vector<port::SessionRow>> MemoryStore::sessions(std::string const& project,
                                                            std::uint64_t before,
                                                            std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::SessionRow> rows;
    for (auto entry = disk_->sessions.rbegin(); entry != disk_->sessions.rend(); ++entry) {
        if (rows.size() >= limit) break;
        auto const& [number, session] = *entry;
        if (before != 0 && number >= before) continue;
        if (session.row.project == project && session.row.status != "deleted")
            rows.push_back(session.row);
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
        if (session.row.project != filter.project || session.row.status == "deleted") continue;
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

Result<std::optional<std::string>> MemoryStore::artifact(SessionId id, Seq seq) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr || !session->artifacts.contains(seq)) return std::nullopt;
    return *session->artifacts.at(seq);
}

Result<std::optional<std::string>> MemoryStore::artifact_piece(SessionId id, Seq seq,
                                                               std::uint64_t offset,
                                                               std::size_t count) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr || !session->artifacts.contains(seq)) return std::nullopt;
    std::string const& bytes = *session->artifacts.at(seq);
    return offset < bytes.size() ? bytes.substr(offset, count) : std::string();
}

// nullopt: another project's, or of a session that has been deleted since.
std::optional<port::FeedRow> MemoryStore::feed_row(MemoryDisk::Fed const& fed,
                                                   std::string const& project) const {
    auto const& session = disk_->sessions.at(fed.session.number());
    if (session.row.project != project) return std::nullopt;
    if (fed.deleted)
        return port::FeedRow{fed.n, fed.session, {fed.first, 1, ""}, true, session.row.updated};
    auto const frame = session.frames.find(fed.first);
    if (frame == session.frames.end()) return std::nullopt;
    return port::FeedRow{fed.n, fed.session, frame->second};
}

Result<port::FeedPage> MemoryStore::feed(std::string const& project, std::uint64_t after,
                                         std::size_t max_bytes) {
    std::scoped_lock const lock(disk_->mutex);
    port::FeedPage page;
    auto const& feed = disk_->feed;
    page.gone = after > 0 && !feed.empty() && after + 1 < feed.front().n;
    page.next = after;
    if (page.gone) return page;
    auto entry = std::ranges::upper_bound(feed, after, {}, &MemoryDisk::Fed::n);
    std::size_t bytes = 0;
    for (; entry != feed.end() && (bytes < max_bytes || page.rows.empty()); ++entry) {
        page.next = entry->n;
        auto row = feed_row(*entry, project);
        if (!row) continue;
        bytes += row->frame.bytes.size();
        page.rows.push_back(std::move(*row));
    }
    page.more = entry != feed.end();
    return page;
}

Result<std::uint64_t> MemoryStore::feed_head() {
    std::scoped_lock const lock(disk_->mutex);
    return disk_->feed_head;
}

Result<void> MemoryStore::update_posts(std::span<port::PostUpdate const> updates) {
    std::scoped_lock const lock(disk_->mutex);
    for (port::PostUpdate const& update : updates) {
        auto const found = disk_->posts.find(update.key);
        if (found == disk_->posts.end()) continue;
        if (update.gone) {
            disk_->posts.erase(found);
            continue;
        }
        port::PostRow& row = found->second;
        row.state = update.state;
        row.next_at = update.next_at;
        row.attempts = update.attempts;
        row.last_status = update.last_status;
        row.last_error = update.last_error;
        row.delivered = update.delivered;
    }
    return {};
}

Result<std::vector<port::PostRow>> MemoryStore::due_posts(std::string const& kind, Time until,
                                                          std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::map<std::tuple<Time, std::uint64_t, Seq, std::uint32_t>, port::PostRow const*> due;
    for (auto const& [key, row] : disk_->posts) {
        bool const waits = row.state == port::PostState::pending && row.kind == kind;
        if (!waits || row.next_at > until) continue;
        due.emplace(std::tuple(row.next_at, key.from.number(), key.seq, key.n), &row);
        if (due.size() > limit) due.erase(std::prev(due.end()));
    }
    std::vector<port::PostRow> found;
    for (auto const& [place, row] : due) found.push_back(*row);
    return found;
}

Result<std::vector<port::DuePost>> MemoryStore::due_by_target(Time until, std::string const& after,
                                                              std::uint32_t each,
                                                              std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    using Place = std::tuple<Time, std::uint64_t, Seq, std::uint32_t>;
    std::map<std::string, std::map<Place, port::PostKey>> by_target;
    for (auto const& [key, row] : disk_->posts) {
        bool const waits = row.state == port::PostState::pending && row.kind != "session";
        if (!waits || row.next_at > until || row.target <= after) continue;
        auto& due = by_target[row.target];
        due.emplace(Place(row.next_at, key.from.number(), key.seq, key.n), key);
        if (due.size() > each) due.erase(std::prev(due.end()));
    }
    std::vector<port::DuePost> found;
    for (auto const& [target, due] : by_target) {
        if (found.size() >= limit) break;
        for (auto const& [place, key] : due)
            found.push_back({key, target, disk_->posts.at(key).attempts});
    }
    return found;
}

Result<std::optional<port::PostRow>> MemoryStore::post(port::PostKey const& key) {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->posts.find(key);
    if (found == disk_->posts.end()) return std::nullopt;
    return found->second;
}

Result<std::optional<SessionId>> MemoryStore::find_created(Bits128 const& create_key) {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->created.find(create_key);
    if (found == disk_->created.end()) return std::nullopt;
    return disk_->sessions.at(found->second).row.id;
}

Result<std::vector<port::PostRow>> MemoryStore::list_posts(port::PostFilter const& filter) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::PostRow> found;
    for (auto entry = disk_->posts.rbegin(); entry != disk_->posts.rend(); ++entry) {
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
    std::erase_if(disk_->posts, [&](auto const& one) {
        port::PostRow const& row = one.second;
        return row.state == port::PostState::delivered && row.delivered && *row.delivered < until;
    });
    return {};
}

namespace {

bool was_given_up(port::PostRow const& row, Time until) {
    bool const dead = row.state == port::PostState::dead || row.state == port::PostState::disabled;
    return dead && row.kind != "session" && row.kind != "held" && row.next_at < until &&
           row.created < until;
}

}  // namespace

Result<std::uint64_t> MemoryStore::count_given_up(Time until, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    auto const count = std::ranges::count_if(
        disk_->posts, [&](auto const& one) { return was_given_up(one.second, until); });
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(count), limit);
}

Result<void> MemoryStore::drop_given_up(Time until, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::uint32_t dropped = 0;
    std::erase_if(disk_->posts, [&](auto const& one) {
        bool const goes = dropped < limit && was_given_up(one.second, until);
        if (goes) ++dropped;
        return goes;
    });
    return {};
}

Result<std::optional<std::string>> MemoryStore::secret(SessionId id, CallNo call,
                                                       Generation generation) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr || !session->secrets.contains({call, generation})) return std::nullopt;
    return session->secrets.at({call, generation});
}

Result<std::optional<Bits128>> MemoryStore::delivered(Bits128 const& key) {
    std::scoped_lock const lock(disk_->mutex);
    if (auto const found = disk_->delivered.find(key); found != disk_->delivered.end())
        return found->second;
    auto const kept = disk_->kept.find(key);
    if (kept == disk_->kept.end()) return std::nullopt;
    return kept->second.delivery.digest;
}

Result<std::vector<port::KeptRow>> MemoryStore::kept(std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::KeptRow> rows;
    for (auto const& [key, row] : disk_->kept) rows.push_back(row);
    std::ranges::stable_sort(rows, {}, &port::KeptRow::at);
    if (rows.size() > limit) rows.resize(limit);
    return rows;
}

Result<void> MemoryStore::keep(port::KeptRow const& row) {
    std::scoped_lock const lock(disk_->mutex);
    Bits128 const& key = row.delivery.key;
    if (disk_->delivered.contains(key) || !disk_->kept.emplace(key, row).second)
        return fail(Code::conflict, "this delivery is known");
    return {};
}

Result<void> MemoryStore::drop_kept(std::span<Bits128 const> keys) {
    std::scoped_lock const lock(disk_->mutex);
    for (Bits128 const& key : keys) disk_->kept.erase(key);
    return {};
}

void MemoryStore::add_to_audit(std::string const& line) {
    auto& audit = disk_->audit;
    auto const n = audit.empty() ? 1 : audit.back().n + 1;
    audit.push_back({n, line, port::chained(n == 1 ? Sha256{} : audit.back().hash, n, line)});
}

Result<void> MemoryStore::trim_audit(std::uint64_t through, std::string const& line) {
    std::scoped_lock const lock(disk_->mutex);
    add_to_audit(line);
    std::erase_if(disk_->audit, [&](port::AuditRow const& row) { return row.n <= through; });
    return {};
}

Result<void> MemoryStore::change_tokens(port::TokenChange const& change) {
    std::scoped_lock const lock(disk_->mutex);
    if (!change.drop.empty() && disk_->tokens.erase(change.drop) == 0)
        return fail(Code::conflict, "there is no token " + change.drop);
    if (change.put) disk_->tokens.insert_or_assign(change.put->id, *change.put);
    if (!change.audit.empty()) add_to_audit(change.audit);
    return {};
}

Result<std::vector<port::TokenRow>> MemoryStore::tokens() {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::TokenRow> rows;
    for (auto const& [id, row] : disk_->tokens) rows.push_back(row);
    return rows;
}

Result<std::vector<port::AuditRow>> MemoryStore::audit(std::uint64_t after, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::AuditRow> rows;
    for (port::AuditRow const& row : disk_->audit) {
        if (row.n > after && rows.size() < limit) rows.push_back(row);
    }
    return rows;
}

}  // namespace dormouse::store
