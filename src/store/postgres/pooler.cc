#include "store/postgres/pooler.h"

#include <array>

namespace dormouse::store::postgres {
namespace {

constexpr char backend_query[] = "SELECT pg_backend_pid()::bigint";

// A statement that another client prepared under the same name, or one that exists no longer.
bool is_of_another(Failure const& failure) {
    return failure.state == "42P05" || failure.state == "26000";
}

std::unexpected<Error> pooler() {
    return fail(Code::wrong_state,
                "A pooler between this program and PostgreSQL changes the backend with each "
                "transaction: connect to PostgreSQL itself, or set pool_mode = session");
}

}  // namespace

// While the other connection is in a transaction, a pooler must give the first one another backend
// than before, or has given both the same.
Result<void> refuse_pooler(Connection& one, Connection& other) {
    std::array<std::int64_t, 3> backends{};
    std::array<Connection*, 3> const asked{&one, &other, &one};
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (i == 1) {
            auto const begun = other.script("BEGIN", look_wait);
            if (!begun) return std::unexpected(begun.error().error);
        }
        auto const rows = asked[i]->run(Call{backend_query}, look_wait);
        if (!rows && is_of_another(rows.error())) return pooler();
        if (!rows) return std::unexpected(rows.error().error);
        backends[i] = rows->integer(0, 0);
        if (i == 1 && backends[0] == backends[1]) return pooler();
    }
    auto const ended = other.script("ROLLBACK", look_wait);
    if (!ended) return std::unexpected(ended.error().error);
    if (backends[0] != backends[2]) return pooler();
    return {};
}

}  // namespace dormouse::store::postgres
