// Outbox messages of sessions that were not delivered yet.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

namespace dormouse::store::sqlite {

using port::OutboxRow;
using port::OutboxState;

// These numbers are stored in the file.
static_assert(static_cast<int>(OutboxState::pending) == 0 &&
              static_cast<int>(OutboxState::delivered) == 1 &&
              static_cast<int>(OutboxState::dead) == 2 &&
              static_cast<int>(OutboxState::disabled) == 3);

// Reads the columns POST_COLUMNS.
Result<OutboxRow> Reader::outbox_row(Query const& row) const {
    auto const from = session_id(row.text(0));
    if (!from) return std::unexpected(from.error());
    auto const key = row.integer(1);
    OutboxRow out;
    out.key = {*from, seq_of(key), static_cast<std::uint32_t>(row.integer(2))};
    out.state = static_cast<OutboxState>(row.integer(3));
    out.next_at = from_ms(row.integer(4));
    out.kind = row.text(5);
    out.target = row.text(6);
    if (row.maybe_integer(7)) out.makes = SessionId::parse(out.target);
    out.created = from_ms(row.integer(8));
    out.attempts = static_cast<std::uint32_t>(row.integer(9));
    out.last_status = static_cast<std::int32_t>(row.integer(10));
    out.last_error = row.text(11);
    if (auto const delivered = row.maybe_integer(12)) out.delivered = from_ms(*delivered);
    out.body = row.text(14);
    if (checksum(key, out.key.n, out.body) != row.integer(13))
        return damaged("an outbox message of " + from->text() + ", event " +
                       std::to_string(out.key.seq));
    return out;
}

Result<std::vector<OutboxRow>> Reader::due_messages(std::string const& kind, Time until,
                                                    std::uint32_t limit) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::due_messages);
    rows.bind(kind).bind(to_ms(until)).bind(std::int64_t{limit});
    return read_all<OutboxRow>(rows, [this](Query const& row) { return outbox_row(row); });
}

Result<std::vector<port::DueMessage>> Reader::due_by_target(Time until, std::string const& after,
                                                            std::uint32_t each,
                                                            std::uint32_t limit) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::DueMessage> found;
    std::string target = after;
    while (found.size() < limit) {
        {
            auto next = query(Read::next_target);
            next.bind(target);
            auto const there = next.next();
            if (!there) return std::unexpected(there.error());
            if (!*there) break;
            target = next.text(0);
        }
        auto rows = query(Read::due_to_target);
        rows.bind(target).bind(to_ms(until)).bind(std::int64_t{each});
        for (;;) {
            auto const there = rows.next();
            if (!there) return std::unexpected(there.error());
            if (!*there) break;
            auto const from = session_id(rows.text(0));
            if (!from) return std::unexpected(from.error());
            found.push_back(
                {{*from, seq_of(rows.integer(1)), static_cast<std::uint32_t>(rows.integer(2))},
                 target,
                 static_cast<std::uint32_t>(rows.integer(3))});
        }
    }
    return found;
}

Result<std::uint64_t> Reader::count_given_up(Time until, std::uint32_t limit) {
    auto rows = query(Read::count_given_up);
    rows.bind(to_ms(until)).bind(std::int64_t{limit});
    for (std::uint64_t count = 0;; ++count) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return count;
    }
}

Result<std::optional<OutboxRow>> Reader::post(port::OutboxKey const& key) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    if (key.from.number() >= number_end || key.seq >= seq_end) return std::nullopt;
    auto one = query(Read::post);
    one.bind(key_of(key.from.number(), key.seq)).bind(std::int64_t{key.n});
    auto const there = one.next();
    if (!there) return std::unexpected(there.error());
    if (!*there) return std::nullopt;
    auto row = outbox_row(one);
    if (!row) return std::unexpected(std::move(row.error()));
    if (row->key.from != key.from) return std::nullopt;
    return std::move(*row);
}

}  // namespace dormouse::store::sqlite
