#pragma once
// Private to the reader's two files.

#include "store/sqlite/reader.h"

namespace dormouse::store::sqlite {

// What is read while it lives is one state of the store. Without it each statement would also lock
// anew.
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
