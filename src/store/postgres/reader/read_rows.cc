#include "store/postgres/reader/read_rows.h"

#include "base/text/text.h"
#include "store/postgres/schema/layout.h"

#include <cstdlib>

namespace dormouse::store::postgres {

using port::OutboxState;
using port::PendingStatus;

Result<SessionId> session_id(std::string_view bare) {
    auto const bits = parse_base64url_128(bare);
    if (!bits) return damaged("the id of a session is invalid");
    return SessionId{*bits};
}

Result<port::SessionRow> session_row(Rows const& rows, int row) {
    auto const id = session_id(rows.text(row, 0));
    if (!id) return std::unexpected(id.error());
    return port::SessionRow{.id = *id,
                            .project = std::string(rows.text(row, 1)),
                            .agent = std::string(rows.text(row, 2)),
                            .alias = std::string(rows.text(row, 3)),
                            .title = std::string(rows.text(row, 4)),
                            .status = std::string(rows.text(row, 5)),
                            .created = from_ms(rows.integer(row, 6)),
                            .updated = from_ms(rows.integer(row, 7)),
                            .turn = static_cast<port::TurnState>(rows.integer(row, 8))};
}

port::PendingRow pending_row(Rows const& rows, int row) {
    return {.call = static_cast<CallNo>(rows.integer(row, 0)),
            .generation = static_cast<Generation>(rows.integer(row, 1)),
            .status = static_cast<PendingStatus>(rows.integer(row, 2)),
            .tool = std::string(rows.text(row, 3)),
            .created = from_ms(rows.integer(row, 4)),
            .timeout = maybe_time(rows, row, 5),
            .paused = static_cast<Seq>(rows.integer(row, 6)),
            .settled = static_cast<Seq>(rows.integer(row, 7)),
            .external_ref = std::string(rows.text(row, 8))};
}

Result<port::OutboxRow> outbox_row(Rows const& rows, int row) {
    auto const from = session_id(rows.text(row, 0));
    if (!from) return std::unexpected(from.error());
    port::OutboxRow out;
    out.key = {*from, static_cast<Seq>(rows.integer(row, 1)),
               static_cast<std::uint32_t>(rows.integer(row, 2))};
    out.state = static_cast<OutboxState>(rows.integer(row, 3));
    out.next_at = from_ms(rows.integer(row, 4));
    out.kind = rows.text(row, 5);
    out.target = rows.text(row, 6);
    if (!rows.is_null(row, 7)) out.makes = SessionId::parse(out.target);
    out.created = from_ms(rows.integer(row, 8));
    out.attempts = static_cast<std::uint32_t>(rows.integer(row, 9));
    out.last_status = static_cast<std::int32_t>(rows.integer(row, 10));
    out.last_error = rows.text(row, 11);
    out.delivered = maybe_time(rows, row, 12);
    out.body = rows.text(row, 14);
    if (checksum(key_of(from->number(), out.key.seq), out.key.n, out.body) != rows.integer(row, 13))
        return damaged("an outbox message of " + from->text() + ", event " +
                       std::to_string(out.key.seq));
    return out;
}

// The first frame of a cut journal has a negative count, and a checksum like other rows.
Result<port::Frame> frame_of(SessionId session, Rows const& rows, int row, int column) {
    auto const count = rows.integer(row, column + 1);
    port::Frame frame{.first = static_cast<Seq>(rows.integer(row, column)),
                      .count = static_cast<std::uint32_t>(std::abs(count)),
                      .bytes = std::string(rows.text(row, column + 3))};
    auto const sum = count < 0 ? checksum(key_of(session.number(), frame.first), count, frame.bytes)
                               : static_cast<std::int64_t>(port::stamp_of(session, frame));
    if (sum != rows.integer(row, column + 2))
        return damaged(session.text() + ", event " + std::to_string(frame.first));
    return frame;
}

Result<std::vector<port::Frame>> frames_of(SessionId session, Rows const& rows, FrameRows which) {
    std::vector<port::Frame> out;
    for (int row = which.from; row < which.to; ++row) {
        auto frame = frame_of(session, rows, row, which.column);
        if (!frame) return std::unexpected(std::move(frame.error()));
        auto const expected = out.empty() ? frame->first : out.back().first + out.back().count;
        if (frame->first != expected)
            return damaged(session.text() + ", event " + std::to_string(expected) + " is missing");
        out.push_back(std::move(*frame));
    }
    return out;
}

}  // namespace dormouse::store::postgres
