#include "store/postgres/reader/read_rows.h"

#include "store/postgres/schema/layout.h"

#include <cstdlib>

namespace dormouse::store::postgres {

Result<SessionId> session_id(std::string_view bare) { return checked(port::read_session_id(bare)); }

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
