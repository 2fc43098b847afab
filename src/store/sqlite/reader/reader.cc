// Reads the rows of one session. reader_lists.cc has the lists.
#include "store/sqlite/reader/reader.h"

#include "base/text/text.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/schema/short_form.h"

#include <limits>

namespace dormouse::store::sqlite {

using port::Frame;

std::unexpected<Error> Reader::damaged(std::string const& what) const {
    return fail(Code::internal, file_ + " is damaged: " + what);
}

Result<SessionId> Reader::session_id(std::string_view bare) const {
    return checked(port::read_session_id(bare));
}

Result<port::SessionRow> Reader::session_row(Query const& row) const {
    return checked(port::read_session(row));
}

Result<std::optional<port::SessionRow>> Reader::find(SessionId session) {
    auto found = query(Read::session);
    found.bind(static_cast<std::int64_t>(session.number()));
    auto const row = found.next();
    if (!row) return std::unexpected(row.error());
    if (!*row || found.text(0) != session.bare()) return std::nullopt;
    auto read = session_row(found);
    if (!read) return std::unexpected(read.error());
    return std::move(*read);
}

Result<port::Loaded> Reader::load(SessionId session) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    port::Loaded loaded;
    auto row = find(session);
    if (!row) return std::unexpected(row.error());
    if (!*row) return loaded;
    loaded.row = std::move(*row);
    auto cached = snapshot(session);
    if (!cached) return std::unexpected(cached.error());
    loaded.snapshot = std::move(*cached);
    auto tail = this->tail(session, loaded.snapshot ? loaded.snapshot->seq : 0);
    if (!tail) return std::unexpected(tail.error());
    loaded.tail = std::move(tail->frames);
    loaded.stamp = tail->stamp;
    if (loaded.tail.empty() && !loaded.snapshot && loaded.row->status != "deleted")
        return damaged(session.text() + " has no events");
    auto const wake = wake_at(session);
    if (!wake) return std::unexpected(wake.error());
    loaded.wake_known = true;
    loaded.wake_at = *wake;
    port::PendingFilter newest{.session = session};
    newest.project = loaded.row->project;
    newest.limit = 1;
    auto const pauses = list_of_session(newest);
    if (!pauses) return std::unexpected(pauses.error());
    if (!pauses->empty())
        loaded.named = std::max(pauses->front().row.paused, pauses->front().row.settled);
    return loaded;
}

// Also reads the frame that ends at `after`: if a journal ends before its snapshot, events are
// lost.
Result<Reader::Tail> Reader::tail(SessionId session, Seq after) {
    auto read = frames(session, after == 0 ? 1 : after, std::numeric_limits<std::size_t>::max());
    if (!read) return std::unexpected(read.error());
    if (read->empty() && after == 0) return Tail{};
    if (read->empty())
        return damaged(session.text() + ", event " + std::to_string(after) + " is missing");
    port::Stamp const stamp = port::stamp_of(session, read->back());
    if (read->front().first + read->front().count == after + 1) read->erase(read->begin());
    return Tail{std::move(*read), stamp};
}

Result<std::optional<port::SnapshotRow>> Reader::snapshot(SessionId session) {
    auto stored = query(Read::snapshot);
    stored.bind(static_cast<std::int64_t>(session.number()));
    auto const row = stored.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    port::SnapshotRow snapshot{.seq = static_cast<Seq>(stored.integer(0)),
                               .format = static_cast<std::uint32_t>(stored.integer(1)),
                               .state = std::string(stored.text(3))};
    if (checksum(key_of(session.number(), snapshot.seq), snapshot.format, snapshot.state) !=
        stored.integer(2))
        return damaged("snapshot of " + session.text() + " after event " +
                       std::to_string(snapshot.seq));
    return snapshot;
}

Result<std::optional<Time>> Reader::wake_at(SessionId session) {
    auto wakeup = query(Read::wake);
    wakeup.bind(static_cast<std::int64_t>(session.number()));
    auto const row = wakeup.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    return from_ms(wakeup.integer(0));
}

Result<std::vector<Frame>> Reader::page(SessionId session, Seq from, std::size_t max_bytes) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return std::vector<Frame>{};
    return frames(session, from, max_bytes);
}

Result<std::vector<Frame>> Reader::frames(SessionId session, Seq from, std::size_t max_bytes) {
    std::vector<Frame> found;
    auto const number = session.number();
    if (from >= seq_end) return found;
    auto start = query(Read::frames_from);
    start.bind(key_of(number, 0)).bind(key_of(number, from));
    if (auto const row = start.next(); !row) return std::unexpected(row.error());
    auto const first = start.maybe_integer(0);

    auto rows = query(Read::frames);
    rows.bind(first.value_or(key_of(number, 1))).bind(key_of(number, seq_end - 1) + 1);
    Seq expected = first ? seq_of(*first) : 0;
    for (std::size_t bytes = 0; bytes < max_bytes || found.empty();) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        // A journal begins with event 1, or with the frame that replaces everything before it
        // (Append::base).
        if (expected == 0) expected = rows.integer(1) < 0 ? seq_of(rows.integer(0)) : 1;
        auto frame = this->frame(session, rows, expected);
        if (!frame) return std::unexpected(frame.error());
        expected = frame->first + frame->count;
        if (expected <= from) continue;
        bytes += frame->bytes.size();
        found.push_back(std::move(*frame));
    }
    return found;
}

namespace {

// The first frame of a cut journal has a negative count, and a checksum like other rows.
bool is_sound(SessionId session, Frame const& frame, Query const& row) {
    if (row.integer(1) < 0)
        return checksum(row.integer(0), row.integer(1), frame.bytes) == row.integer(2);
    return is_frame_sum(row.integer(2), port::stamp_of(session, frame));
}

}  // namespace

Result<Frame> Reader::frame(SessionId session, Query const& row, Seq expected) const {
    auto const key = row.integer(0);
    Frame frame{.first = seq_of(key),
                .count = static_cast<std::uint32_t>(std::abs(row.integer(1))),
                .bytes = long_form(session, row.text(3))};
    if (!is_sound(session, frame, row))
        return damaged(session.text() + ", event " + std::to_string(frame.first));
    if (frame.first != expected)
        return damaged(session.text() + ", event " + std::to_string(expected) + " is missing");
    return frame;
}

Result<std::vector<Seq>> Reader::lookup(SessionId session, std::span<std::string const> keys) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<Seq> seqs(keys.size(), 0);
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return seqs;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto key = query(Read::key);
        key.bind(static_cast<std::int64_t>(session.number())).bind_bytes(keys[i]);
        auto const row = key.next();
        if (!row) return std::unexpected(row.error());
        if (*row) seqs[i] = static_cast<Seq>(key.integer(0));
    }
    return seqs;
}

Result<std::vector<port::KeyRow>> Reader::key_rows(SessionId session) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return std::vector<port::KeyRow>();
    auto rows = query(Read::key_rows);
    rows.bind(static_cast<std::int64_t>(session.number()));
    return read_all<port::KeyRow>(rows, [](Query const& row) {
        return Result<port::KeyRow>({std::string(row.text(0)), static_cast<Seq>(row.integer(1))});
    });
}

Result<std::vector<port::NewestFrame>> Reader::newest(std::span<SessionId const> sessions) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::NewestFrame> out;
    for (SessionId const& session : sessions) {
        auto one = newest(session);
        if (!one) return std::unexpected(one.error());
        out.push_back(*one);
    }
    return out;
}

Result<port::NewestFrame> Reader::newest(SessionId session) {
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return port::NewestFrame{};
    auto last = query(Read::newest);
    last.bind(key_of(session.number(), 0)).bind(key_of(session.number(), seq_end - 1) + 1);
    auto const row = last.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return port::NewestFrame{};
    return newest_frame(session, last.integer(0), last.integer(1), last.integer(2), last.text(3));
}

Result<std::optional<SessionId>> Reader::find_created(Bits128 const& create_key) {
    auto created = query(Read::created);
    created.bind_bytes({reinterpret_cast<char const*>(create_key.data()), create_key.size()});
    auto const row = created.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    auto const id = session_id(created.text(0));
    if (!id) return std::unexpected(id.error());
    return *id;
}

Result<void> Reader::hold_view() {
    auto const begun = connection_.run("BEGIN");
    return begun ? ping() : begun;  // the view begins with the first read
}

Result<void> Reader::ping() {
    auto epoch = query(Read::ping);
    auto const row = epoch.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return damaged("the epoch is missing");
    return {};
}

}  // namespace dormouse::store::sqlite
