// Outbox messages of sessions that were not delivered yet.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

namespace dormouse::store::sqlite {

using port::OutboxRow;
using port::OutboxState;

// Reads the columns POST_COLUMNS.
Result<OutboxRow> Reader::outbox_row(Query const& row) const {
    return checked(port::read_outbox(row, seq_of(row.integer(1))));
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

Result<std::optional<OutboxRow>> Reader::outbox_message(port::OutboxKey const& key) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    if (key.from.number() >= number_end || key.seq >= seq_end) return std::nullopt;
    auto one = query(Read::outbox_message);
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
