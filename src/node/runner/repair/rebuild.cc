#include "runner/repair/rebuild.h"

#include "base/check.h"
#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "session/key.h"
#include "session/replay.h"
#include "wire/redact.h"

namespace dormouse::runner {

using namespace dormouse::session;

namespace {
constexpr std::size_t stored_key_bytes_max = 64;  // port::KeyRow

void note_artifact(Event const& event, Rebuilt& out) {
    auto const* const e = std::get_if<ArtifactEmitted>(&event.body);
    if (e && e->digest != wire::no_digest) out.artifacts.emplace(event.seq, *e);
}

}  // namespace

Result<Journal> read_journal(port::JournalStore& store, SessionId session) {
    Journal out;
    out.base.id = session;
    auto const first = store.page(session, 1, 1);
    if (!first) return std::unexpected(first.error());
    auto base = read_base(session, *first);
    if (!base) return std::unexpected(std::move(base.error()));
    if (*base) out.base = **std::move(base);
    auto records = read_records(store, session, 1, SIZE_MAX >> 1);
    if (!records) return std::unexpected(std::move(records.error()));
    out.records = std::move(*records);
    return out;
}

Result<Rebuilt> rebuild(Journal const& journal) {
    Rebuilt out;
    out.state = journal.base;
    for (wire::RecordPtr const& record : journal.records) {
        Event const& event = record->event;
        if (event.seq <= journal.base.head) {
            note_artifact(event, out);
            continue;
        }
        if (event.seq != out.state.head + 1) {
            return fail(Code::internal,
                        "event " + std::to_string(out.state.head + 1) + " is missing");
        }
        for (PendingChange const& change : pending_changes(out.state, event))
            out.pending[{change.pending.call, change.pending.generation}] = pending_row(change);
        for (std::string& key : keys_of(event)) out.keys.emplace(std::move(key), event.seq);
        note_artifact(event, out);
        if (auto done = replay(out.state, event); !done)
            return std::unexpected(std::move(done.error()));
    }
    if (out.state.head == 0) return fail(Code::internal, "it is empty");
    if (auto sound = check_sound(out.state); !sound)
        return std::unexpected(std::move(sound.error()));
    return out;
}

Result<LoadedSession> read_again(port::Store& store, SessionId session) {
    auto const loaded = store.load(session);
    if (!loaded) return std::unexpected(loaded.error());
    if (!loaded->row || loaded->row->status == "deleted") return read_session(store, session);
    auto journal = read_journal(store, session);
    if (!journal) return std::unexpected(std::move(journal.error()));
    auto rebuilt = rebuild(*journal);
    if (!rebuilt) return std::unexpected(std::move(rebuilt.error()));
    auto const keys = store.key_rows(session);
    if (!keys) return std::unexpected(keys.error());
    LoadedSession out;
    out.stamp = loaded->stamp;
    out.state = std::move(rebuilt->state);
    CHECK(out.state.id == session);
    out.tail = std::move(journal->records);
    std::erase_if(out.tail,
                  [&](auto const& record) { return record->event.seq <= journal->base.head; });
    out.rows.emplace();
    for (auto& [key, row] : rebuilt->pending) out.rows->pending.push_back(std::move(row));
    for (auto& [key, seq] : rebuilt->keys) {
        if (key.size() > stored_key_bytes_max)
            return fail(Code::internal, "Event " + std::to_string(seq) + " of " + session.text() +
                                            " has a key that exceeds its limit.");
        out.rows->keys.push_back({key, seq});
    }
    // No event says which outbox messages were accepted.
    for (port::KeyRow const& row : *keys) {
        bool const after = row.seq > journal->base.head && row.seq <= out.state.head;
        if (is_taken_key(row.key) && after) out.rows->keys.push_back(row);
    }
    return out;
}

}  // namespace dormouse::runner
