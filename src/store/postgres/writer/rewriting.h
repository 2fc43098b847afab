#pragma once
// Changes the contents that are stored, one table after another.

#include "port/rewriter.h"
#include "store/postgres/connection.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace dormouse::store::postgres {

class Rewriting {
public:
    // `fence` makes a call that fails, and with it its transaction, unless this process may still
    // write. Both outlive it.
    Rewriting(Connection& connection, port::Rewriter& rewriter, std::function<Call()> fence,
              Connection::Wait wait)
        : connection_(connection), rewriter_(rewriter), fence_(std::move(fence)), wait_(wait) {}

    // In transactions of at most 200 rows and, unless one row is larger, 4 MiB. Returns how many
    // rows were changed. A failed transaction is not repeated: the next call continues.
    [[nodiscard]] Answer<std::uint64_t> all();

private:
    [[nodiscard]] Answer<std::uint64_t> table(std::size_t which);
    [[nodiscard]] Answer<void> write(std::vector<Call> updates);

    Connection& connection_;
    port::Rewriter& rewriter_;
    std::function<Call()> fence_;
    Connection::Wait wait_;
};

// Writes the tables with contents again, without the versions of rows that were replaced. false:
// the role may not, or it failed; they stay until VACUUM FULL. REQUIRES: nobody else uses the
// schema.
[[nodiscard]] bool drop_old_versions(Connection& connection);

}  // namespace dormouse::store::postgres
