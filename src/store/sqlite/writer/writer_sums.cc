// Sums of days, which budgets limit.
#include "store/sqlite/writer/writer.h"

namespace dormouse::store::sqlite {

Result<void> Writer::write_day_sums(port::Append const& append) {
    for (port::DayRow const& row : append.day_sums) {
        auto add = query(Write::add_to_day);
        auto done = add.bind(row.day).bind(row.name).bind(row.amount).run();
        if (!done) return done;
    }
    if (append.day_sums.empty()) return {};
    auto const first = append.day_sums.front().day - port::days_kept;
    return query(Write::drop_days).bind(first).run();
}

}  // namespace dormouse::store::sqlite
