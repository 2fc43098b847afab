#include "store/memory/memory_store.h"

#include "base/check.h"
#include "store/memory/memory_rows.h"

#include <algorithm>
#include <numeric>
#include <ranges>

namespace dormouse::store {
namespace {

using port::Append;
using port::AppendResult;
using port::Frame;
using port::PendingRow;
using port::Stamp;

// The limit of the default store's keys, so that both stores accept the same journals.
constexpr Seq seq_end = Seq{1} << 24;

}  // namespace

MemoryStore::MemoryStore(std::shared_ptr<MemoryDisk> disk, std::size_t feed_kept, bool shared)
    : disk_(std::move(disk)), feed_kept_(feed_kept), shared_(shared) {
    std::scoped_lock const lock(disk_->mutex);
    if (!shared_) disk_->nodes.clear();  // earlier ones use it no more
    enter();
}

void MemoryStore::enter() {
    epoch_ = ++disk_->epoch;
    incarnation_ = ++disk_->incarnations;
    disk_->nodes[epoch_] = incarnation_;
}

bool MemoryStore::is_member() const {
    auto const found = disk_->nodes.find(epoch_);
    return found != disk_->nodes.end() && found->second == incarnation_;
}

bool MemoryStore::takes_part() const {
    std::scoped_lock const lock(disk_->mutex);
    return is_member();
}

std::set<Epoch> MemoryStore::nodes() const {
    std::scoped_lock const lock(disk_->mutex);
    auto const epochs = std::views::keys(disk_->nodes);
    return {epochs.begin(), epochs.end()};
}

void MemoryStore::declare_gone(Epoch epoch) {
    std::scoped_lock const lock(disk_->mutex);
    disk_->nodes.erase(epoch);
}

void MemoryStore::join() {
    std::scoped_lock const lock(disk_->mutex);
    enter();
}

std::uint64_t MemoryStore::next_session_number() {
    std::scoped_lock const lock(disk_->mutex);
    std::uint64_t largest = disk_->sessions.empty() ? 0 : disk_->sessions.rbegin()->first;
    for (auto const& [key, row] : disk_->outbox)
        if (row.makes) largest = std::max(largest, row.makes->number());
    return largest + 1;
}

std::vector<port::AppendResult> MemoryStore::commit(std::span<Append const> appends) {
    std::vector<std::size_t> order(appends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {},
                      [&](std::size_t i) { return std::pair(appends[i].session.number(), i); });

    std::vector<port::AppendResult> results(appends.size());
    std::scoped_lock const lock(disk_->mutex);
    for (std::size_t const i : order) {
        results[i] = check(appends[i]);
        if (results[i]) results[i] = apply(appends[i]);
    }
    return results;
}

// The driver of the session may decide, and everybody if it has none or its driver is gone.
bool MemoryStore::may_drive(Append const& append) const {
    auto const* const session = find(append.session);
    if (!shared_ || append.drive == port::Drive::none || session == nullptr) return true;
    bool const free = session->driver == 0 || !disk_->nodes.contains(session->driver);
    return free || session->driver == append.epoch;
}

void MemoryStore::drive(std::uint64_t number, MemoryDisk::Session& session, Append const& append) {
    Epoch driver = session.driver;
    if (append.drive == port::Drive::keep) driver = append.epoch;
    if (append.drive == port::Drive::leave) driver = 0;
    auto const wake_at =
        append.wake_changed && append.frame.count > 0 ? append.wake_at : session.wake_at;
    set_wake(number, session, wake_at, shared_ ? driver : 0);
}

// A message that another process took is not taken a second time.
bool MemoryStore::may_take(Append const& append) const {
    return !shared_ || std::ranges::all_of(append.taken, [&](port::OutboxKey const& key) {
        return disk_->outbox.contains(key);
    });
}

MemoryDisk::Session const* MemoryStore::find(SessionId session) const {
    auto const found = disk_->sessions.find(session.number());
    if (found == disk_->sessions.end() || found->second.row.id != session) return nullptr;
    return &found->second;
}

// The newest frame of the session is the one that the append names.
bool MemoryStore::fits(Append const& append) const {
    auto const* const session = find(append.session);
    if (append.after == 0)
        return !disk_->sessions.contains(append.session.number()) || comes_back(append);
    if (session == nullptr || session->erased || head_of(*session) != append.after) return false;
    return !append.stamp || *append.stamp == session->stamp;
}

bool MemoryStore::is_newest(port::SourceFrame const& source) const {
    auto const* const session = find(source.session);
    if (session == nullptr || session->erased) return false;
    return port::NewestFrame{head_of(*session), session->stamp} == source.newest;
}

AppendResult MemoryStore::check(Append const& append) const {
    CHECK(append.session.number() > 0);
    CHECK(append.frame.first == append.after + 1);
    CHECK(append.frame.count > 0 || append.drive != port::Drive::none);
    CHECK(!append.row || append.row->id == append.session);
    if (last_of(append.frame) >= seq_end)
        return fail(Code::too_large, "the session's journal is full");
    if (shared_ && !is_member()) return port::fenced();
    bool const outdated = shared_ && append.epoch != epoch_;  // decided before join()
    bool const known = std::ranges::any_of(append.delivered, [&](port::DeliveredRow const& row) {
        return disk_->delivered.contains(row.key);
    });
    bool const fit = !outdated && !known && fits(append) && may_drive(append) && may_take(append);
    if (!fit) return port::moved(append.session);
    if (comes_back(append) && has_undelivered(append.session))
        return std::unexpected(port::undelivered().error());
    if (append.source && !is_newest(*append.source))
        return std::unexpected(port::source_changed(*append.source));
    if (append.after == 0 && !append.row)
        return fail(Code::internal, "a session's first append needs its row");
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

// A key must name one event: an append that repeats a key was decided without knowing it.
AppendResult MemoryStore::check_keys(Append const& append) const {
    if (append.create_key && disk_->created.contains(*append.create_key))
        return fail(Code::conflict, "a session with this create key exists");
    if (append.erase) return Stamp::none;
    auto const* const session = find(append.session);
    std::set<std::string_view> fresh;
    for (auto const& row : append.keys) {
        CHECK(row.key.size() <= 64);
        bool const taken =
            session != nullptr && session->keys.contains(row.key) &&
            !(append.rows_rebuilt && session->keys.at(row.key) > append.rebuilt_after);
        if (!fresh.insert(row.key).second || taken)
            return fail(Code::conflict, "a key of " + append.session.text() + " is taken");
    }
    return Stamp::none;
}

// REQUIRES: check(append) passed.
Stamp MemoryStore::apply(Append const& append) {
    auto const number = append.session.number();
    if (comes_back(append)) forget_deleted(append.session);
    auto& session = disk_->sessions[number];
    drive(number, session, append);
    if (append.frame.count == 0) return session.stamp;
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
    for (auto const& row : append.outbox) disk_->outbox.emplace(row.key, row);
    for (auto const& key : append.taken) disk_->outbox.erase(key);
    for (auto const& line : append.audit) add_to_audit(line);
    write_rules(append);
    write_day_sums(append);
    if (append.erase) {
        erase(number, session);
        return Stamp::none;
    }
    session.frames.emplace(append.frame.first, append.frame);
    session.stamp = port::stamp_of(append.session, append.frame);
    if (append.base) cut(session, *append.base);
    if (append.rows_rebuilt) {
        std::erase_if(session.pending, [&](auto const& entry) {
            return entry.second.paused > append.rebuilt_after;
        });
        std::erase_if(session.keys,
                      [&](auto const& entry) { return entry.second > append.rebuilt_after; });
    }
    for (auto const& row : append.pending)
        session.pending.insert_or_assign(std::pair(row.call, row.generation), row);
    for (auto const& row : append.keys) session.keys.emplace(row.key, row.seq);
    for (auto const& row : append.artifacts) session.artifacts.emplace(row.seq, row.bytes);
    for (auto const& row : append.secrets)
        session.secrets.insert_or_assign({row.call, row.generation}, row.secret);
    if (append.snapshot) session.snapshot = append.snapshot;
    if (append.rewrite) rewrite(session, *append.rewrite);
    list(number, session);
    return session.stamp;
}

void MemoryStore::rewrite(MemoryDisk::Session& session, port::Rewrite const& rewrite) {
    for (Frame const& frame : rewrite.frames) {
        auto const stored = session.frames.find(frame.first);
        CHECK(stored != session.frames.end() && stored->second.count == frame.count);
        stored->second.bytes = frame.bytes;
    }
    for (Seq const seq : rewrite.artifacts) session.artifacts.erase(seq);
    for (auto const& key : rewrite.outbox) disk_->outbox.erase(key);
    std::erase_if(session.sent, [&](port::SentRow const& row) {
        return std::ranges::find(rewrite.calls, row.call) != rewrite.calls.end();
    });
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
    std::erase_if(session.sent, [&](port::SentRow const& row) { return row.call <= base.call; });
    std::erase_if(session.artifacts, [&](auto const& entry) {
        return entry.first <= base.through && std::ranges::count(base.artifacts, entry.first) == 0;
    });
}

void MemoryStore::add_to_feed(Append const& append) {
    disk_->feed.push_back({++disk_->feed_head, append.session, append.frame.first, append.erase});
    if (disk_->feed.size() > feed_kept_) disk_->feed.pop_front();
}

void MemoryStore::set_wake(std::uint64_t number, MemoryDisk::Session& session,
                           std::optional<Time> wake_at, Epoch driver) {
    auto const due_at = [&] { return session.driver != 0 ? from_ms(0) : session.wake_at; };
    if (auto const at = due_at()) disk_->wakeups.erase({*at, number});
    session.wake_at = wake_at;
    session.driver = driver;
    if (auto const at = due_at()) disk_->wakeups.insert({*at, number});
}

void MemoryStore::erase(std::uint64_t number, MemoryDisk::Session& session) {
    set_wake(number, session, std::nullopt, 0);
    auto row = std::move(session.row);
    row.status = "deleted";
    row.title.clear();
    row.alias.clear();
    row.turn = port::TurnState::rest;
    session = {};
    session.row = std::move(row);
    session.erased = true;
    list(number, session);
}

bool MemoryStore::comes_back(Append const& append) const {
    auto const* const session = append.restores ? find(append.session) : nullptr;
    return session != nullptr && session->row.status == "deleted" && session->frames.empty();
}

bool MemoryStore::has_undelivered(SessionId id) const {
    return std::ranges::any_of(disk_->outbox, [&](auto const& entry) {
        auto const& [key, row] = entry;
        return key.from == id && row.state == port::OutboxState::pending && row.kind != "held";
    });
}

void MemoryStore::forget_deleted(SessionId id) {
    std::erase_if(disk_->outbox, [&](auto const& entry) {
        return entry.first.from == id && entry.second.state != port::OutboxState::pending;
    });
    std::erase_if(disk_->feed, [&](auto const& row) { return row.session == id && !row.deleted; });
    disk_->sessions.erase(id.number());
}

Result<port::Loaded> MemoryStore::load(SessionId id) {
    std::scoped_lock const lock(disk_->mutex);
    port::Loaded loaded;
    auto const* const session = find(id);
    if (session == nullptr) return loaded;
    loaded.row = session->row;
    loaded.snapshot = session->snapshot;
    loaded.stamp = session->stamp;
    loaded.wake_known = true;
    loaded.wake_at = session->wake_at;
    loaded.driver = session->driver;
    if (!session->pending.empty()) {
        port::PendingRow const& newest = session->pending.rbegin()->second;
        loaded.named = std::max(newest.paused, newest.settled);
    }
    Seq const after = session->snapshot ? session->snapshot->seq : 0;
    for (auto const& [first, frame] : session->frames)
        if (last_of(frame) > after) loaded.tail.push_back(frame);
    return loaded;
}

Result<std::vector<port::NewestFrame>> MemoryStore::newest(std::span<SessionId const> sessions) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::NewestFrame> out;
    for (SessionId const& id : sessions) {
        auto const* const session = find(id);
        out.push_back(session ? port::NewestFrame{head_of(*session), session->stamp}
                              : port::NewestFrame{});
    }
    return out;
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

Result<std::optional<SessionId>> MemoryStore::find_created(Bits128 const& create_key) {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->created.find(create_key);
    if (found == disk_->created.end()) return std::nullopt;
    return disk_->sessions.at(found->second).row.id;
}

}  // namespace dormouse::store
