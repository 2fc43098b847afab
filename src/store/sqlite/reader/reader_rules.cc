// Standing rules.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

namespace dormouse::store::sqlite {

Result<std::vector<port::RuleRow>> Reader::rules() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::rules);
    return read_all<port::RuleRow>(
        rows, [this](Query const& row) { return checked(port::read_rule(row)); });
}

}  // namespace dormouse::store::sqlite
