#pragma once
// Verify: folds every session's journal, rebuilds what stands beside it (state, pending rows, keys,
// artifacts, wake_at) and compares. Reads only; damage is named. Runner::repair() mends what can be
// made anew.

#include "port/store.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::runner {

struct Finding {
    SessionId session;  // that of no session: the audit
    std::string what;
};

struct VerifyReport {
    std::uint64_t sessions = 0;
    std::uint64_t events = 0;
    std::uint64_t audited = 0;  // lines of the audit
    std::vector<Finding> findings;
    std::optional<std::uint64_t> next = {};  // a page: where the next one goes on
};

// `progress` is called after each thousand sessions with their number.
[[nodiscard]] Result<VerifyReport> verify(port::Store& store,
                                          std::function<void(std::uint64_t)> const& progress);

// Of up to `limit` sessions with numbers above `after`. They may be in use meanwhile.
[[nodiscard]] Result<VerifyReport> verify_page(port::Store& store, std::uint64_t after,
                                               std::uint32_t limit);
// Whether it is nothing but what a journal says anew.
[[nodiscard]] bool can_be_repaired(Finding const& finding);

}  // namespace dormouse::runner
