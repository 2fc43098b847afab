#pragma once
// Values from rows. Private to the reader's .cc files.

#include "port/store.h"
#include "store/postgres/connection.h"
#include "store/postgres/statements.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dormouse::store::postgres {

[[nodiscard]] inline std::unexpected<Error> damaged(std::string const& what) {
    return fail(Code::internal, "The database of the store is damaged: " + what);
}

[[nodiscard]] Result<SessionId> session_id(std::string_view bare);
// Reads the columns SESSION_COLUMNS.
[[nodiscard]] Result<port::SessionRow> session_row(Rows const& rows, int row);
// Reads the columns PENDING_COLUMNS.
[[nodiscard]] port::PendingRow pending_row(Rows const& rows, int row);
// Reads the columns POST_COLUMNS.
[[nodiscard]] Result<port::OutboxRow> outbox_row(Rows const& rows, int row);
// Reads first, n, sum and data.
[[nodiscard]] Result<port::Frame> frame_of(SessionId session, Rows const& rows, int row,
                                           int column);
// Rows from `from` on, up to `to`, and the first column of a frame in them.
struct FrameRows {
    int from;
    int to;
    int column;
};
// Reads frames that follow each other.
[[nodiscard]] Result<std::vector<port::Frame>> frames_of(SessionId session, Rows const& rows,
                                                         FrameRows which);

[[nodiscard]] inline std::optional<Time> maybe_time(Rows const& rows, int row, int column) {
    auto const ms = rows.maybe_integer(row, column);
    return ms ? std::optional(from_ms(*ms)) : std::nullopt;
}

// Converts each row by `read`: Result<T>(int row) or T(int row).
template <class Read> auto read_all(Rows const& rows, Read read) {
    using Item = std::invoke_result_t<Read, int>;
    constexpr bool can_fail = requires(Item const& item) { item.error(); };
    auto const taken = [](Item item) {
        if constexpr (can_fail)
            return *std::move(item);
        else
            return item;
    };
    using Value = std::invoke_result_t<decltype(taken), Item>;
    std::vector<Value> out;
    out.reserve(static_cast<std::size_t>(rows.size()));
    for (int row = 0; row < rows.size(); ++row) {
        Item item = read(row);
        if constexpr (can_fail)
            if (!item) return Result<std::vector<Value>>(std::unexpected(std::move(item.error())));
        out.push_back(taken(std::move(item)));
    }
    return Result<std::vector<Value>>(std::move(out));
}

}  // namespace dormouse::store::postgres
