#pragma once
// Private to the reader's .cc files.

#include "store/sqlite/reader/reader.h"

#include <utility>
#include <vector>

namespace dormouse::store::sqlite {

// A read transaction: all reads during its life see one state of the store. It also saves the
// locking by each statement. Inside of a view it does nothing.
class Reader::Transaction {
public:
    explicit Transaction(Reader& reader)
        : reader_(reader),
          own_(!reader.connection_.in_transaction()),
          begun_(own_ ? reader.query(Read::begin).run() : Result<void>()) {}
    ~Transaction() {
        if (own_ && begun_) std::ignore = reader_.query(Read::end).run();
    }
    Transaction(Transaction const&) = delete;
    Transaction& operator=(Transaction const&) = delete;

    [[nodiscard]] Result<void> const& begun() const { return begun_; }

private:
    Reader& reader_;
    bool const own_;
    Result<void> const begun_;
};

// Reads all remaining rows of `rows`; `read` returns the value of one row, or an error that ends
// it.
template <class T, class ReadRow> Result<std::vector<T>> read_all(Query& rows, ReadRow read) {
    std::vector<T> found;
    for (;;) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return found;
        Result<T> row = read(rows);
        if (!row) return std::unexpected(std::move(row.error()));
        found.push_back(*std::move(row));
    }
}

}  // namespace dormouse::store::sqlite
