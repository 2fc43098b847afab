#include "runner/read/reading.h"

#include "base/check.h"
#include "base/trace.h"
#include "port/many_loads.h"
#include "port/stored_stamp.h"
#include "runner/lane/memory_short.h"
#include "runner/repair/unreadable.h"
#include "session/limits.h"
#include "session/replay.h"
#include "wire/journal/history.h"
#include "wire/state_json.h"
#include "wire/view/transcript.h"

#include <algorithm>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::size_t reading_page_bytes = std::size_t{1} << 20;

// Adds the frames' records with numbers from `from` to `to`.
Result<void> add_records(SessionId session, std::vector<port::Frame> const& frames, Seq from,
                         Seq to, std::vector<wire::RecordPtr>& out) {
    for (port::Frame const& frame : frames) {
        auto records = wire::unpack(session, frame.first, frame.bytes);
        if (!records) return std::unexpected(std::move(records.error()));
        for (wire::RecordPtr& record : *records) {
            Seq const seq = record->event.seq;
            if (seq >= from && seq <= to) out.push_back(std::move(record));
        }
    }
    return {};
}

Error missing(SessionId session, Seq seq) {
    return {Code::internal,
            "Event " + std::to_string(seq) + " of " + session.text() + " is missing."};
}

Result<wire::RecordPtr> read_record(port::JournalStore& store, SessionId session, Seq seq) {
    auto records = read_records(store, session, seq, seq);
    if (!records) return std::unexpected(std::move(records.error()));
    if (records->empty()) return std::unexpected(missing(session, seq));
    return records->front();
}

Result<void> find_totals(port::JournalStore& store, Wanted const& wanted, Found& found) {
    auto const sums = store.day_sums(wanted.day, wanted.totals);
    if (!sums) return std::unexpected(sums.error());
    CHECK(sums->size() == wanted.totals.size());
    found.totals.emplace();
    for (std::size_t i = 0; i < sums->size(); ++i)
        found.totals->emplace(wanted.totals[i], (*sums)[i]);
    return {};
}

Result<void> find_receipt(port::JournalStore& store, SessionId session, PendingId const& pending,
                          Found& found) {
    auto row = store.pending(session, pending.call, pending.generation);
    if (!row) return std::unexpected(std::move(row.error()));
    if (!*row || (*row)->settled == 0) return {};
    auto record = read_record(store, session, (*row)->settled);
    if (!record) return std::unexpected(std::move(record.error()));
    if (Receipt const* receipt = receipt_in((*record)->event)) found.receipt = *receipt;
    return {};
}

Result<void> find_notes(port::JournalStore& store, SessionId session, PendingId const& pending,
                        Sha256 const& digest, Found& found) {
    std::vector<std::string> keys{note_key(pending.call, pending.generation, digest)};
    for (std::uint32_t k = 1; k <= limits::notes_per_pause_max; ++k) {
        keys.push_back(note_slot_key(pending.call, pending.generation, k));
    }
    auto seqs = store.lookup(session, keys);
    if (!seqs) return std::unexpected(std::move(seqs.error()));
    CHECK(seqs->size() == keys.size());
    found.note_known = seqs->front() != 0;
    for (std::size_t k = 1; k < seqs->size(); ++k) found.notes += (*seqs)[k] != 0 ? 1 : 0;
    return {};
}

Result<void> find_earlier(port::JournalStore& store, SessionId session, Seq seq, Seq base,
                          Found& found) {
    auto records = read_records(store, session, seq, seq);
    if (!records) return std::unexpected(std::move(records.error()));
    found.gone = records->empty() && seq <= base;
    if (found.gone) return {};
    if (records->empty()) return std::unexpected(missing(session, seq));
    found.earlier = earlier_in(records->front()->event);
    return {};
}

Result<LoadedSession> fold_session(port::JournalStore& store, SessionId session,
                                   Result<port::Loaded> loaded) {
    if (!loaded) return std::unexpected(std::move(loaded.error()));
    LoadedSession out;
    out.state.id = session;
    if (!loaded->row) return out;
    if (loaded->row->status == "deleted") {
        out.state.lifecycle = Lifecycle::deleted;
        return out;
    }
    if (loaded->snapshot && loaded->snapshot->format == wire::snapshot_format) {
        auto state = wire::read_state(session, loaded->snapshot->state);
        if (state && state->head == loaded->snapshot->seq && check_sound(*state)) {
            out.state = std::move(*state);
            out.snapshot_seq = loaded->snapshot->seq;
            out.snapshot_bytes = loaded->snapshot->state.size();
        }
    }
    auto frames = std::move(loaded->tail);
    if (loaded->snapshot && out.snapshot_seq == 0) {  // unreadable: fold from the start
        auto all = store.page(session, 1, SIZE_MAX);
        if (!all) return std::unexpected(std::move(all.error()));
        frames = std::move(*all);
    }
    if (out.snapshot_seq == 0) {
        auto base = read_base(session, frames);
        if (!base) return std::unexpected(std::move(base.error()));
        if (*base) out.state = **std::move(base);
    }
    for (port::Frame const& frame : frames) {
        out.tail_bytes += frame.bytes.size();
        auto records = wire::unpack(session, frame.first, frame.bytes);
        if (!records) return std::unexpected(std::move(records.error()));
        for (wire::RecordPtr& record : *records) {
            if (record->event.seq <= out.state.head) continue;
            if (auto done = replay(out.state, record->event); !done)
                return std::unexpected(std::move(done.error()));
            out.tail.push_back(std::move(record));
        }
    }
    if (out.state.head == 0)
        return fail(Code::internal, session.text() + " has no events that can be read.");
    if (auto sound = check_sound(out.state); !sound)
        return std::unexpected(std::move(sound.error()));
    // A row that names an event beyond the newest one: the journal has lost its end, and must not
    // be continued.
    if (loaded->named > out.state.head) return std::unexpected(missing(session, loaded->named));
    CHECK(out.state.id == session);
    out.stamp = loaded->stamp;
    out.wake_known = loaded->wake_known;
    out.wake_at = loaded->wake_at;
    out.turn = loaded->row->turn;
    out.driver = loaded->driver;
    return out;
}

}  // namespace

Result<LoadedSession> read_session(port::JournalStore& store, SessionId session) {
    trace();
    auto read =
        unless_memory_is_short([&] { return fold_session(store, session, store.load(session)); });
    if (!read) return std::unexpected(unreadable(session, std::move(read.error())));
    return read;
}

namespace {

Result<std::vector<Result<port::Loaded>>> load_all(port::JournalStore& store,
                                                   std::span<KnownSession const> sessions) {
    std::vector<SessionId> ids;
    for (KnownSession const& session : sessions) ids.push_back(session.id);
    return port::load_each(store, ids);
}

Result<LoadedSession> read_loaded(port::JournalStore& store, KnownSession const& session,
                                  Result<port::Loaded> loaded) {
    auto read =
        unless_memory_is_short([&] { return fold_session(store, session.id, std::move(loaded)); });
    if (!read) return std::unexpected(unreadable(session.id, std::move(read.error())));
    return compared(store, std::move(read), session.known);
}

}  // namespace

std::vector<Result<LoadedSession>> read_sessions(port::JournalStore& store,
                                                 std::span<KnownSession const> sessions) {
    trace();
    auto loaded = unless_memory_is_short([&] { return load_all(store, sessions); });
    if (!loaded) return {sessions.size(), std::unexpected(loaded.error())};
    CHECK(loaded->size() == sessions.size());
    std::vector<Result<LoadedSession>> out;
    for (std::size_t i = 0; i < sessions.size(); ++i)
        out.push_back(read_loaded(store, sessions[i], std::move((*loaded)[i])));
    return out;
}

Result<LoadedSession> compared(port::JournalStore& store, Result<LoadedSession> read,
                               port::NewestFrame const& known) {
    if (!read || known.head == 0) return read;
    if (port::NewestFrame{read->state.head, read->stamp} == known) return read;
    auto const there = holds(store, read->state, known);
    if (!there) return std::unexpected(there.error());
    read->lost = !*there;
    return read;
}

Result<bool> holds(port::JournalStore& store, State const& now, port::NewestFrame const& frame) {
    if (frame.head <= now.base.through) return true;
    auto const found = store.page(now.id, frame.head, 1);
    if (!found) return std::unexpected(found.error());
    if (found->empty()) return false;
    port::Frame const& one = found->front();
    Seq const last = one.first + one.count - 1;
    // Retention replaces whole frames, so also events after `through` in the last of them.
    if (one.first <= now.base.through) return last >= frame.head;
    if (last != frame.head) return false;
    // A redaction replaces the content of frames before it.
    if (frame.head < now.redacted) return true;
    auto const stamp = port::stored_stamp(store, now.id, one);
    if (!stamp) return std::unexpected(stamp.error());
    return *stamp == frame.stamp;
}

Result<std::optional<State>> read_base(SessionId session, std::vector<port::Frame> const& frames) {
    if (frames.empty()) return std::nullopt;
    return wire::base_state(session, frames.front().bytes);
}

namespace {

Result<std::vector<wire::RecordPtr>> all_records(port::JournalStore& store, SessionId session,
                                                 Seq from, Seq to) {
    std::vector<wire::RecordPtr> out;
    while (from <= to) {
        auto frames = store.page(session, from, from == to ? 1 : reading_page_bytes);
        if (!frames) return std::unexpected(std::move(frames.error()));
        if (frames->empty()) break;
        if (auto added = add_records(session, *frames, from, to, out); !added)
            return std::unexpected(std::move(added.error()));
        from = frames->back().first + frames->back().count;
    }
    return out;
}

Result<std::vector<wire::RecordPtr>> some_records(port::JournalStore& store, SessionId session,
                                                  Seq from, Seq to, std::size_t max_bytes) {
    std::vector<wire::RecordPtr> out;
    for (Seq next = from; out.empty() && next <= to;) {
        auto frames = store.page(session, next, max_bytes);
        if (!frames) return std::unexpected(std::move(frames.error()));
        if (frames->empty()) break;
        if (auto added = add_records(session, *frames, from, to, out); !added)
            return std::unexpected(std::move(added.error()));
        next = frames->back().first + frames->back().count;
    }
    return out;
}

}  // namespace

Result<std::vector<wire::RecordPtr>> read_records(port::JournalStore& store, SessionId session,
                                                  Seq from, Seq to) {
    return unless_memory_is_short([&] { return all_records(store, session, from, to); });
}

Result<std::vector<wire::RecordPtr>> read_some_records(port::JournalStore& store, SessionId session,
                                                       Seq from, Seq to, std::size_t max_bytes) {
    return unless_memory_is_short(
        [&] { return some_records(store, session, from, to, max_bytes); });
}

Result<FilesById> read_files(port::JournalStore& store, SessionId session,
                             std::vector<Seq> const& events) {
    FilesById out;
    for (Seq const seq : events) {
        std::string id = numbered_id("art_", session, seq);
        auto bytes = store.artifact(session, seq);
        if (!bytes) return std::unexpected(std::move(bytes.error()));
        if (!*bytes)
            return fail(Code::internal, "The bytes of " + id +
                                            " are missing. Stop the server and run: dormouse "
                                            "verify");
        out.emplace(std::move(id), std::make_shared<std::string const>(**std::move(bytes)));
    }
    return out;
}

Result<Found> read_found(port::JournalStore& store, SessionId session, Wanted const& wanted,
                         Seq base) {
    Found found;
    if (!wanted.totals.empty()) {
        auto done = find_totals(store, wanted, found);
        if (!done) return std::unexpected(std::move(done.error()));
    }
    if (wanted.receipt) {
        auto done = find_receipt(store, session, *wanted.receipt, found);
        if (!done) return std::unexpected(std::move(done.error()));
        if (wanted.note) done = find_notes(store, session, *wanted.receipt, *wanted.note, found);
        if (!done) return std::unexpected(std::move(done.error()));
    }
    if (wanted.earlier.empty() && wanted.progress.empty() && wanted.taken.empty()) return found;
    std::vector<std::string> const keys{wanted.earlier, wanted.progress, wanted.taken};
    auto seqs = store.lookup(session, keys);
    if (!seqs) return std::unexpected(std::move(seqs.error()));
    CHECK(seqs->size() == keys.size());
    auto const seq = [&](std::size_t i) { return keys[i].empty() ? 0 : (*seqs)[i]; };
    found.progress_known = seq(1) != 0;
    found.taken = seq(2) != 0;
    if (seq(0) == 0) return found;
    auto done = find_earlier(store, session, seq(0), base, found);
    if (!done) return std::unexpected(std::move(done.error()));
    return found;
}

Result<ArtifactCopies> read_artifacts(port::JournalStore& store, SessionId session,
                                      NamedArtifacts const& artifacts) {
    ArtifactCopies out;
    for (auto const& [seq, artifact] : artifacts) {
        auto bytes = store.artifact(session, seq);
        if (!bytes) return std::unexpected(std::move(bytes.error()));
        if (!*bytes)
            return fail(Code::internal,
                        "The bytes of " + numbered_id("art_", session, seq) +
                            " are missing. Stop the server and run: dormouse verify");
        out.emplace_back(seq, Artifact{artifact.name, artifact.mime,
                                       std::make_shared<std::string const>(**std::move(bytes)),
                                       artifact.digest});
    }
    return out;
}

std::optional<ForkDraft> draft_fork(State const& state, wire::History const& history, Seq seq,
                                    bool cut) {
    Seq const step = wire::last_step(history, seq);
    if (step == 0 && history.forked_messages().is_null()) return std::nullopt;
    auto past = wire::transcript(state, history, step);
    if (cut) past.cut(fork_transcript_bytes_max);
    auto const count = static_cast<std::uint32_t>(past.messages.size());
    ForkDraft out{.fork = {.from = state.id,
                           .seq = step,
                           .messages = Json::trusted(past.text()),
                           .message_count = count,
                           .redacted = state.redacted},
                  .artifacts = {}};
    out.artifacts = wire::artifacts_of(state.id, history, step, out.fork.messages.text());
    for (auto const& [at, artifact] : out.artifacts) out.artifact_bytes += artifact.bytes;
    return out;
}

void set_source(Create::ForkOf& fork, port::NewestFrame const& newest) {
    fork.head = newest.head;
    fork.stamp = static_cast<std::uint64_t>(newest.stamp);
}

Result<std::optional<Create::ForkOf>> read_past(port::JournalStore& store, SessionId session,
                                                Seq seq) {
    auto const loaded = read_session(store, session);
    if (!loaded) return std::unexpected(loaded.error());
    bool const gone =
        loaded->state.lifecycle == Lifecycle::none || loaded->state.lifecycle == Lifecycle::deleted;
    if (gone) return std::nullopt;
    auto const records = read_records(store, session, 1, seq);
    if (!records) return std::unexpected(records.error());
    wire::History history(session);
    for (wire::RecordPtr const& record : *records) history.add(*record);
    auto draft = draft_fork(loaded->state, history, seq, true);
    if (!draft) return std::nullopt;
    set_source(draft->fork, {loaded->state.head, loaded->stamp});
    bool const too_many = draft->artifacts.size() > limits::fork_artifacts_max ||
                          draft->artifact_bytes > limits::fork_artifact_bytes_max;
    if (too_many) return std::move(draft->fork);
    auto copies = read_artifacts(store, session, draft->artifacts);
    if (!copies) return std::unexpected(std::move(copies.error()));
    draft->fork.artifacts = *std::move(copies);
    return std::move(draft->fork);
}

}  // namespace dormouse::runner
