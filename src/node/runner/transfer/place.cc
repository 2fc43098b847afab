#include "runner/transfer/place.h"

#include "base/check.h"
#include "base/crypto/sha256.h"
#include "json/json.h"
#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "runner/repair/rebuild.h"
#include "session/key.h"
#include "wire/state_json.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace dormouse::runner {

using session::State;

namespace {

std::unexpected<Error> wrong(std::string what) { return fail(Code::bad_value, std::move(what)); }

Bits128 cut(Sha256 const& digest) {
    Bits128 out{};
    std::copy_n(digest.begin(), out.size(), out.begin());
    return out;
}

// The key of the request that created the session; see Runner::create().
std::optional<Bits128> created_key(State const& state) {
    std::string const& idem = state.created_idem;
    if (idem.empty()) return std::nullopt;
    return cut(sha256(state.project + "\n" + idem.substr(0, idem.find('.'))));
}

struct Folded {
    Rebuilt rebuilt;
    Seq base = 0;  // events up to it were removed; 0: none
};

Result<Folded> fold(Portable const& session) {
    Journal journal;
    journal.base.id = session.id;
    auto base = read_base(session.id, session.frames);
    if (!base) return std::unexpected(std::move(base.error()));
    if (*base) journal.base = **std::move(base);
    Seq next = session.frames.empty() ? 1 : session.frames.front().first;
    if (journal.base.head == 0 && next != 1) return wrong("its journal begins with a later event");
    for (port::Frame const& frame : session.frames) {
        if (frame.first != next || frame.count == 0)
            return wrong("event " + std::to_string(next) + " is missing");
        next += frame.count;
        auto records = wire::unpack(session.id, frame.first, frame.bytes);
        if (!records) return std::unexpected(std::move(records.error()));
        std::ranges::move(*records, std::back_inserter(journal.records));
    }
    auto rebuilt = rebuild(journal);
    if (!rebuilt) return std::unexpected(std::move(rebuilt.error()));
    if (rebuilt->state.head + 1 != next) return wrong("a frame has another number of events");
    if (rebuilt->state.lifecycle == session::Lifecycle::deleted)
        return wrong("its journal ends with its deletion");
    return Folded{*std::move(rebuilt), journal.base.head};
}

// Rows that follow from the events must be those.
Result<void> compare(Portable const& session, Folded const& folded) {
    std::map<std::pair<CallNo, Generation>, port::PendingRow> pending;
    for (port::PendingRow const& row : session.pending) {
        if (std::max(row.paused, row.settled) > folded.rebuilt.state.head)
            return wrong("a pending row names a later event");
        pending[{row.call, row.generation}] = row;
    }
    for (auto const& [key, row] : folded.rebuilt.pending)
        if (auto const found = pending.find(key); found == pending.end() || found->second != row)
            return wrong("the row of call " + std::to_string(row.call) +
                         " differs from its events");
    std::map<std::string, Seq> keys;
    for (port::KeyRow const& row : session.keys) {
        if (row.seq > folded.rebuilt.state.head) return wrong("a key names a later event");
        if (!keys.emplace(row.key, row.seq).second) return wrong("a key is there twice");
    }
    for (auto const& [key, seq] : folded.rebuilt.keys)
        if (auto const found = keys.find(key); found == keys.end() || found->second != seq)
            return wrong("a key of event " + std::to_string(seq) + " is missing");
    std::set<port::OutboxKey> outbox;
    for (port::OutboxRow const& row : session.outbox)
        if (!outbox.insert(row.key).second) return wrong("a message is there twice");
    std::string const own = "rul_" + session.id.bare() + "_";
    for (port::RuleRow const& row : session.rules)
        if (!row.id.starts_with(own)) return wrong("a rule is that of another session");
    for (auto const& [seq, artifact] : folded.rebuilt.artifacts) {
        auto const found = session.artifacts.find(seq);
        if (found == session.artifacts.end())
            return wrong("the artifact of event " + std::to_string(seq) + " is missing");
        if (artifact.digest != sha256(*found->second))
            return wrong("the artifact of event " + std::to_string(seq) + " has another digest");
    }
    for (auto const& [seq, bytes] : session.artifacts)
        if (!folded.rebuilt.artifacts.contains(seq))
            return wrong("no event names the artifact " + std::to_string(seq));
    return {};
}

}  // namespace

Result<Placing> Placing::prepare(Portable session, SessionId was) {
    if (session.frames.empty()) return wrong("it has no events");
    auto folded = fold(session);
    if (!folded) {
        Error error = std::move(folded.error());
        if (error.code == Code::internal) error.code = Code::bad_value;
        return std::unexpected(std::move(error));
    }
    if (auto same = compare(session, *folded); !same)
        return std::unexpected(std::move(same.error()));
    if (folded->base > 0 && session.frames.size() < 2) return wrong("its newest event is missing");
    return Placing(std::move(session), was, std::move(folded->rebuilt), folded->base);
}

Result<bool> Placing::find(port::Store& store, Deleted deleted) {
    auto there = look(store, deleted);
    may_append_ = there && !*there;
    return there;
}

Result<bool> Placing::look(port::Store& store, Deleted deleted) {
    auto const rows = store.all_sessions(session_.id.number() - 1, 1);
    if (!rows) return std::unexpected(rows.error());
    bool const taken = !rows->empty() && rows->front().id.number() == session_.id.number();
    if (taken && rows->front().id != session_.id)
        return fail(Code::conflict, "its number is that of " + rows->front().id.text() +
                                        " here: import with --new-ids");
    if (taken) return same_as(store, rows->front(), deleted);
    if (auto free = keys_are_free(store); !free) return std::unexpected(std::move(free.error()));
    // An earlier release may have been killed after it had removed the deleted session.
    restores_ = deleted == Deleted::restored && may_come_back();
    return false;
}

bool Placing::has_work() const {
    return wake_at(state()).has_value() ||
           std::ranges::any_of(session_.outbox, [](port::OutboxRow const& message) {
               return message.state == port::OutboxState::pending &&
                      message.kind != quarantined_kind;
           });
}

std::set<Epoch> Placing::epochs() const { return intent_epochs(state()); }

// A row that says "deleted" and frames that match: an import that was cut off. One that was cut off
// has events to come: an export that ends where it ended is another one.
Result<bool> Placing::same_as(port::Store& store, port::SessionRow const& row, Deleted deleted) {
    auto const newest = store.newest(std::vector{session_.id});
    if (!newest) return std::unexpected(newest.error());
    Seq const head = newest->front().head;
    auto const last = std::ranges::find_if(session_.frames, [&](port::Frame const& frame) {
        return frame.first + frame.count - 1 == head;
    });
    auto const same = last == session_.frames.end()
                          ? Result<bool>(false)
                          : is_stored(store, *last, newest->front().stamp);
    if (!same) return std::unexpected(same.error());
    bool const known = *same;
    if (row.status == "deleted" && known && head < state().head) {
        begun_ = head;
        restores_ = deleted == Deleted::restored && may_come_back();
        if (auto free = keys_are_free(store); !free)
            return std::unexpected(std::move(free.error()));
        return false;
    }
    if (row.status == "deleted" && deleted == Deleted::restored) {
        if (auto may = may_restore(store); !may) return std::unexpected(std::move(may.error()));
        return false;
    }
    if (row.status == "deleted")
        return fail(Code::conflict,
                    "it was deleted here: import with --restore-deleted to bring it back, or with "
                    "--new-ids for a copy");
    if (known && head == state().head) return true;
    return fail(Code::conflict, "it is here with other events: import with --new-ids for a copy");
}

bool Placing::may_come_back() const {
    return state().lifecycle == session::Lifecycle::completed && !has_work();
}

// A restored session must start nothing.
Result<void> Placing::may_restore(port::Store& store) {
    if (!may_come_back())
        return fail(Code::conflict,
                    "it was deleted here, and only a completed session with nothing to do comes "
                    "back: import with --new-ids for a copy");
    if (auto free = keys_are_free(store); !free) return free;
    restores_ = true;
    return {};
}

// A store that holds frames in another form has another stamp for the same events.
Result<bool> Placing::is_stored(port::Store& store, port::Frame const& frame, port::Stamp stamp) {
    if (port::stamp_of(session_.id, frame) == stamp) return true;
    auto const there = store.page(session_.id, frame.first, 1);
    if (!there) return std::unexpected(there.error());
    return !there->empty() && there->front().first == frame.first &&
           there->front().bytes == frame.bytes;
}

Result<void> Placing::keys_are_free(port::Store& store) {
    if (auto const key = created_key(state())) {
        auto const made = store.find_created(*key);
        if (!made) return std::unexpected(made.error());
        if (*made && **made != session_.id)
            return fail(Code::conflict,
                        "the Idempotency-Key that it was created under is that "
                        "of " +
                            (*made)->text() + " here");
        has_created_ = made->has_value();
    }
    if (uses_alias()) {
        auto const holder = store.aliases(state().project, state().alias, 1);
        if (!holder) return std::unexpected(holder.error());
        if (!holder->empty())
            return fail(Code::alias_taken, "its alias '" + state().alias + "' is that of " +
                                               holder->front().id.text() +
                                               " here: change one of them");
    }
    for (port::OutboxRow const& message : session_.outbox) {
        if (!message.makes) continue;
        auto const rows = store.all_sessions(message.makes->number() - 1, 1);
        if (!rows) return std::unexpected(rows.error());
        if (!rows->empty() && rows->front().id.number() == message.makes->number())
            return fail(Code::conflict,
                        "the number of a session that it will make is taken: "
                        "import with --new-ids");
    }
    return {};
}

// A completed session has released it.
bool Placing::uses_alias() const {
    return !state().alias.empty() && state().lifecycle != session::Lifecycle::completed;
}

port::SessionRow Placing::row(bool whole) const {
    auto out = session_row(state());
    if (!whole) out.status = "deleted";  // nobody sees it before it is whole
    if (!whole) out.alias.clear();
    return out;
}

port::Append Placing::append(Epoch epoch, port::Frame frame) const {
    port::Append out;
    out.session = session_.id;
    out.epoch = epoch;
    out.after = frame.first - 1;
    out.frame = std::move(frame);
    out.wake_changed = false;
    return out;
}

// One for each frame; the last one has all rows.
std::vector<port::Append> Placing::appends(Epoch epoch, ImportOptions const& options) const {
    CHECK(may_append_);
    std::vector<port::Append> out;
    auto const& frames = session_.frames;
    bool const based = base_ > 0;
    if (based && begun_ == 0) add_place_of_base(epoch, out);
    for (std::size_t i = based ? 1 : 0; i < frames.size(); ++i) {
        if (frames[i].first + frames[i].count - 1 <= begun_) continue;
        out.push_back(append(epoch, frames[i]));
        if (based && i == 1) out.back().base = port::BaseRow{frames[0], 0, 0, {}, {}};
    }
    CHECK(!out.empty());
    if (begun_ == 0) finish_first(out.front());
    finish_last(out.back(), options);
    return out;
}

// Frames that the base then replaces, because a store takes one only in the place of others.
void Placing::add_place_of_base(Epoch epoch, std::vector<port::Append>& out) const {
    port::Frame const& base = session_.frames.front();
    if (base.first > 1)
        out.push_back(append(epoch, {1, static_cast<std::uint32_t>(base.first - 1), "[]"}));
    out.push_back(append(epoch, {base.first, base.count, "[]"}));
}

void Placing::finish_first(port::Append& append) const {
    append.row = row(false);
    append.restores = restores_;
    bool const renamed = session_.id != was_;
    if (auto const key = created_key(state()); key && !has_created_)
        append.create_key = key;
    else if (renamed && !key)
        append.create_key = import_key(was_);
}

void Placing::finish_last(port::Append& last, ImportOptions const& options) const {
    last.row = row(true);
    last.claims_alias = uses_alias();
    last.wake_at = wake_at(state());
    last.wake_changed = true;
    last.pending = session_.pending;
    last.keys = session_.keys;
    last.secrets = session_.secrets;
    last.outbox = session_.outbox;
    if (restores_) {
        // Retention counts from now on. Mail that waits for release is still stored, or was
        // released.
        last.row->updated = options.at;
        std::erase_if(last.outbox, [](port::OutboxRow const& message) {
            return message.state == port::OutboxState::pending;
        });
    }
    last.rules = session_.rules;
    for (auto const& [seq, bytes] : session_.artifacts) last.artifacts.push_back({seq, bytes});
    last.snapshot =
        port::SnapshotRow{state().head, wire::snapshot_format, wire::write_state(state())};
    json::Writer line;
    line.begin_object().member("type", "session_imported").member("at", to_ms(options.at));
    line.member("sessionID", session_.id.text()).member("seq", state().head);
    line.key("by").begin_object().member("type", "operator").member("name", options.by);
    line.end_object().member("from", was_.text());
    if (restores_) line.member("restored", true);
    last.audit.push_back(line.end_object().take());
}

Bits128 import_key(SessionId was) { return cut(sha256("import\n" + was.text())); }

bool concerns_session(Code code) {
    return code == Code::bad_value || code == Code::newer_format || code == Code::conflict ||
           code == Code::alias_taken || code == Code::too_large || code == Code::wrong_state;
}

Result<Placed> place(port::Store& store, Placing placing, ImportOptions const& options,
                     ImportGuard const& guard) {
    auto const there = placing.find(store, options.deleted);
    if (!there) return std::unexpected(there.error());
    Placed out{*there, placing.has_work()};
    if (*there || options.dry_run) return out;
    if (out.holds)
        if (auto held = guard.hold(); !held) return std::unexpected(std::move(held.error()));
    if (auto const epochs = placing.epochs(); !epochs.empty())
        if (auto done = guard.outlive(*epochs.rbegin()); !done)
            return std::unexpected(std::move(done.error()));
    auto const appends = placing.appends(store.epoch(), options);
    for (port::AppendResult const& result : store.commit(appends))
        if (!result) return std::unexpected(result.error());
    return out;
}

}  // namespace dormouse::runner
