#pragma once
// Verify: folds every session's journal, rebuilds what stands beside it (state, pending rows, keys,
// artifacts, wake_at) and compares. Reads only; damage is named, nothing is repaired.

#include "port/store.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::runner {

struct Finding {
    SessionId session;
    std::string what;
};

struct VerifyReport {
    std::uint64_t sessions = 0;
    std::uint64_t events = 0;
    std::vector<Finding> findings;
};

// `progress` is called after each thousand sessions with their number.
[[nodiscard]] Result<VerifyReport> verify(port::Store& store,
                                          std::function<void(std::uint64_t)> const& progress);

}  // namespace dormouse::runner
