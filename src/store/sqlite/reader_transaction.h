#pragma once
// Private to the reader's .cc files.

#include "store/sqlite/reader.h"

namespace dormouse::store::sqlite {

// A read transaction: all reads during its life see one state of the store. It also saves the
// locking by each statement.
class Reader::Transaction {
public:
    explicit Transaction(Reader& reader)
        : reader_(reader), begun_(reader.query(Read::begin).run()) {}
    ~Transaction() {
        if (begun_) std::ignore = reader_.query(Read::end).run();
    }
    Transaction(Transaction const&) = delete;
    Transaction& operator=(Transaction const&) = delete;

    [[nodiscard]] Result<void> const& begun() const { return begun_; }

private:
    Reader& reader_;
    Result<void> const begun_;
};

}  // namespace dormouse::store::sqlite
