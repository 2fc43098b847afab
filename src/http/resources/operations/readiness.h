#pragma once
// Answers GET /readyz soon, however many questions wait for the store. On the loop.

#include "http/resources/api.h"

#include <memory>
#include <optional>
#include <vector>

namespace dormouse::server {

class Readiness {
public:
    // `services` outlive this.
    explicit Readiness(Services& services) : services_(services) {}

    void answer(ExchangePtr const& x);

private:
    void ask_store();
    void answered(Result<void> const& answer);
    void run_out_of_time();
    void tell(Result<void> const& answer);

    Services& services_;
    std::vector<ExchangePtr> waiting_;
    bool asking_ = false;  // one question at a time is on its way
    std::uint64_t round_ = 0;
    std::optional<Time> answered_at_ = {};  // when the store last said that all is well
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::server
