// Standing rules.
#include "store/sqlite/schema/layout.h"
#include "store/sqlite/writer/writer.h"

namespace dormouse::store::sqlite {

Result<void> Writer::write_rules(port::Append const& append) {
    for (port::RuleRow const& row : append.rules) {
        std::optional<std::int64_t> number;
        if (row.session) number = static_cast<std::int64_t>(row.session->number());
        auto const sum = checksum(number.value_or(0), 0, row.id + row.body);
        auto done = query(Write::add_rule).bind(row.id).bind(number).bind(sum).bind(row.body).run();
        if (!done) return done;
    }
    for (port::RuleUse const& use : append.rule_uses) {
        auto done = query(Write::use_rule).bind(use.id).bind(to_ms(use.at)).run();
        if (!done) return done;
    }
    return {};
}

Result<void> Writer::drop_rule(port::RuleDrop const& change) {
    return transact([&]() -> Result<void> {
        auto drop = query(Write::drop_rule);
        auto const there = drop.bind(change.id).next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return fail(Code::conflict, "unknown rule " + change.id);
        if (auto done = drop.run(); !done) return done;
        return change.audit.empty() ? Result<void>{} : write_audit(change.audit);
    });
}

}  // namespace dormouse::store::sqlite
