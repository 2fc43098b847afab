// Reads what a server must know of sessions to continue them.
#include "store/postgres/reader/read_rows.h"
#include "store/postgres/reader/reader.h"
#include "store/postgres/schema/layout.h"

#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

namespace dormouse::store::postgres {

using port::Frame;

namespace {

// How much of each session one query reads.
struct Bounds {
    std::int64_t bytes = std::numeric_limits<std::int64_t>::max();  // of a frame or a snapshot
    std::optional<std::int64_t> frames = {};                        // nullopt: all
};

// The bounds for sessions that are read together. Almost all sessions are smaller.
constexpr Bounds small{.bytes = 16 << 10, .frames = 32};

// Returns the calls that read the sessions with their snapshots, in order, and the frames of all.
std::array<Call, 2> loads(std::span<SessionId const> sessions, Bounds bounds) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> ids;
    for (SessionId const& session : sessions) {
        numbers.push_back(number_of(session));
        ids.push_back(session.bare());
    }
    std::array calls{Call{sql(Read::load)}, Call{sql(Read::frames)}};
    calls[0].parameters.integers(numbers).texts(ids).integer(bounds.bytes);
    calls[1].parameters.integers(numbers).integer(bounds.bytes).integer(bounds.frames);
    return calls;
}

Result<std::optional<port::SnapshotRow>> snapshot_of(SessionId session, Rows const& known,
                                                     int row) {
    if (known.is_null(row, 14)) return std::nullopt;
    port::SnapshotRow out{.seq = static_cast<Seq>(known.integer(row, 14)),
                          .format = static_cast<std::uint32_t>(known.integer(row, 15)),
                          .state = std::string(known.text(row, 17))};
    if (checksum(key_of(session.number(), out.seq), out.format, out.state) !=
        known.integer(row, 16))
        return damaged("snapshot of " + session.text() + " after event " + std::to_string(out.seq));
    return out;
}

// A journal that does not end with the session's newest frame has lost events.
Result<void> check_tail(SessionId session, port::Loaded const& loaded, Rows const& known, int row,
                        bool first_is_base) {
    auto const& tail = loaded.tail;
    auto const head = static_cast<Seq>(known.integer(row, 9));
    if (tail.empty()) {
        if (head == 0 && loaded.row->status == "deleted") return {};
        return damaged(session.text() + " has no events");
    }
    auto const last = tail.back().first + tail.back().count - 1;
    if (last != head || static_cast<std::int64_t>(loaded.stamp) != known.integer(row, 10))
        return damaged(session.text() + ", event " + std::to_string(last + 1) + " is missing");
    bool const whole = loaded.snapshot || tail.front().first == 1 || first_is_base;
    if (!whole) return damaged(session.text() + ", event 1 is missing");
    return {};
}

// `from`, `to`: the rows of the session's frames.
Result<port::Loaded> loaded_of(SessionId session, Rows const& known, int row, Rows const& frames,
                               int from, int to) {
    port::Loaded out;
    if (known.is_null(row, 0)) return out;
    auto shown = session_row(known, row);
    if (!shown) return std::unexpected(std::move(shown.error()));
    out.row = std::move(*shown);
    auto snapshot = snapshot_of(session, known, row);
    if (!snapshot) return std::unexpected(std::move(snapshot.error()));
    out.snapshot = std::move(*snapshot);
    auto tail = frames_of(session, frames, {from, to, 1});
    if (!tail) return std::unexpected(std::move(tail.error()));
    out.tail = std::move(*tail);
    if (!out.tail.empty()) out.stamp = port::stamp_of(session, out.tail.back());
    bool const base = from < to && frames.integer(from, 2) < 0;
    if (auto whole = check_tail(session, out, known, row, base); !whole)
        return std::unexpected(std::move(whole.error()));
    // The frame that ends with the snapshot's event was read for its stamp.
    if (out.snapshot && !out.tail.empty()) {
        Frame const& first = out.tail.front();
        if (first.first + first.count == out.snapshot->seq + 1) out.tail.erase(out.tail.begin());
    }
    out.wake_known = true;
    out.wake_at = maybe_time(known, row, 12);
    out.named = static_cast<Seq>(known.integer(row, 13));
    out.driver = static_cast<Epoch>(known.integer(row, 11));
    return out;
}

std::vector<Result<port::Loaded>> all_loaded(std::span<SessionId const> sessions, Rows const& known,
                                             Rows const& frames) {
    std::vector<Result<port::Loaded>> out;
    int from = 0;
    for (int row = 0; std::cmp_less(row, sessions.size()); ++row) {
        int to = from;
        while (to < frames.size() && frames.integer(to, 0) == row + 1) ++to;
        out.push_back(
            loaded_of(sessions[static_cast<std::size_t>(row)], known, row, frames, from, to));
        from = to;
    }
    return out;
}

}  // namespace

Result<port::Loaded> Reader::load(SessionId session) {
    std::array const one{session};
    auto const rows = ask(loads(one, {}));
    if (!rows) return std::unexpected(rows.error());
    return std::move(all_loaded(one, (*rows)[0], (*rows)[1]).front());
}

// A session larger than the bounds looks damaged, because not all of it was read. Such a session is
// read once more, without bounds.
std::vector<Result<port::Loaded>> Reader::load_each(std::span<SessionId const> sessions) {
    auto const rows = ask(loads(sessions, small));
    if (!rows) return {sessions.size(), std::unexpected(rows.error())};
    auto out = all_loaded(sessions, (*rows)[0], (*rows)[1]);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!out[i]) out[i] = load(sessions[i]);
    return out;
}

}  // namespace dormouse::store::postgres
