#pragma once
// Answers GET /readyz quickly, even if the store is slow to answer. On the loop.

#include "base/scope.h"
#include "http/resources/api.h"

#include <optional>
#include <vector>

namespace dormouse::http {

class Readiness {
public:
    // `services` outlive this.
    explicit Readiness(Services& services) : services_(services) {}

    void answer(ExchangePtr const& x);

private:
    void ask_store();
    void answered(Result<void> const& answer);
    void run_out_of_time();
    void answer_all(Result<void> const& answer);

    Services& services_;
    std::vector<ExchangePtr> waiting_;
    bool asking_ = false;  // a query is outstanding; there is one at a time
    std::uint64_t round_ = 0;
    std::optional<Time> answered_at_ = {};  // when the store last answered without an error
    Scope scope_;
};

}  // namespace dormouse::http
