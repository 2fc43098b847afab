#pragma once
// Values from rows. Private to the reader's .cc files.

#include "port/store.h"
#include "port/stored_row.h"
#include "store/postgres/connection.h"
#include "store/postgres/statements.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

[[nodiscard]] inline std::unexpected<Error> damaged(std::string const& what) {
    return fail(Code::internal, "The database of the store is damaged: " + what);
}

// One row of several. Valid as long as they are.
struct Row {
    Rows const& rows;
    int row;

    [[nodiscard]] std::int64_t integer(int column) const { return rows.integer(row, column); }
    [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const {
        return rows.maybe_integer(row, column);
    }
    [[nodiscard]] std::string_view text(int column) const { return rows.text(row, column); }
};

template <class T> Result<T> checked(port::ReadRow<T> read) {
    if (!read) return damaged(read.error());
    return *std::move(read);
}

[[nodiscard]] Result<SessionId> session_id(std::string_view bare);
// Reads the columns SESSION_COLUMNS.
[[nodiscard]] inline Result<port::SessionRow> session_row(Rows const& rows, int row) {
    return checked(port::read_session(Row{rows, row}));
}
// Reads the columns PENDING_COLUMNS.
[[nodiscard]] inline port::PendingRow pending_row(Rows const& rows, int row) {
    return port::read_pending(Row{rows, row});
}
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
    return port::read_time(Row{rows, row}, column);
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
