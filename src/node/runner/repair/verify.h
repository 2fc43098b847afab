#pragma once
// Verify: folds every session's journal, rebuilds the rows besides it (state, pending rows, keys,
// artifacts, wake_at) and compares. Reports damage and changes nothing; Runner::repair() rebuilds
// what can be rebuilt.

#include "port/store.h"

#include <functional>
#include <string>
#include <vector>

namespace dormouse::runner {

struct Finding {
    SessionId session;  // default id: a finding about the audit
    std::string what;
};

struct VerifyReport {
    std::uint64_t sessions = 0;
    std::uint64_t events = 0;
    std::uint64_t audited = 0;  // audit lines
    std::vector<Finding> findings;
    std::optional<std::uint64_t> next = {};  // of a page: where the next one continues
};

// Calls `progress` with the number of sessions after each thousand.
[[nodiscard]] Result<VerifyReport> verify(port::Store& store,
                                          std::function<void(std::uint64_t)> const& progress);

// Verifies up to `limit` sessions with numbers above `after`. They may be in use.
[[nodiscard]] Result<VerifyReport> verify_page(port::Store& store, std::uint64_t after,
                                               std::uint32_t limit);
// Returns true if the damaged data can be rebuilt from the journal.
[[nodiscard]] bool can_be_repaired(Finding const& finding);

}  // namespace dormouse::runner
