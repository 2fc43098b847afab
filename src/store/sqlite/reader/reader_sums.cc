// Sums of days, which budgets limit.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"

namespace dormouse::store::sqlite {

Result<std::vector<std::int64_t>> Reader::day_sums(std::int64_t day,
                                                   std::span<std::string const> names) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<std::int64_t> sums(names.size(), 0);
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto sum = query(Read::day_sum);
        auto const row = sum.bind(day).bind(names[i]).next();
        if (!row) return std::unexpected(row.error());
        if (*row) sums[i] = sum.integer(0);
    }
    return sums;
}

Result<std::int64_t> Reader::day_mark(std::int64_t day, std::string const& suffix) {
    auto mark = query(Read::day_mark);
    auto const row = mark.bind(day).bind(suffix).bind(port::mark_modulus).next();
    if (!row) return std::unexpected(row.error());
    return *row ? mark.integer(0) : 0;
}

}  // namespace dormouse::store::sqlite
