#pragma once
// How far the chains of the audit log reached, which also shows that their newest lines are
// missing.

#include <dormouse/error.h>

#include <cstdint>
#include <vector>

namespace dormouse::port {

class AuditEnds {
public:
    virtual ~AuditEnds() = default;
    // The number of the newest line that each chain ever had, although it may be removed by now.
    // Without chains that never had one. Blocks. May be called by as many threads as
    // JournalStore::readers() says.
    [[nodiscard]] virtual Result<std::vector<std::uint64_t>> audit_ends() = 0;
};

}  // namespace dormouse::port
