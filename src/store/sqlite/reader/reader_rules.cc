// Standing rules.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

namespace dormouse::store::sqlite {

// A damaged row is an error: read otherwise it might answer more than a person meant.
Result<std::vector<port::RuleRow>> Reader::rules() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::RuleRow> out;
    auto rows = query(Read::rules);
    while (true) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return out;
        port::RuleRow row;
        row.id = rows.text(0);
        auto const number = rows.maybe_integer(1);
        if (number) row.session = SessionId::parse("ses_" + std::string(rows.text(2)));
        row.uses = static_cast<std::uint64_t>(rows.integer(3));
        if (auto const used = rows.maybe_integer(4)) row.used = from_ms(*used);
        row.body = rows.text(6);
        bool const whole = number.has_value() == row.session.has_value() &&
                           rows.integer(5) == checksum(number.value_or(0), 0, row.id + row.body);
        if (!whole) return damaged("rule " + row.id);
        out.push_back(std::move(row));
    }
}

}  // namespace dormouse::store::sqlite
