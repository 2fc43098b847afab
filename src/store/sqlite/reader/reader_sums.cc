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

}  // namespace dormouse::store::sqlite
