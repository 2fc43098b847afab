#pragma once
// Knows how far the chains of the audit log reached. This shows if their newest lines are missing.

#include <dormouse/error.h>

#include <cstdint>
#include <vector>

namespace dormouse::port {

class AuditEnds {
public:
    virtual ~AuditEnds() = default;
    // Returns the number of the newest line that each chain ever had, although it may be removed by
    // now. Leaves out chains that never had one. Blocks. May be called by as many threads as
    // OpenedStore::readers() says.
    [[nodiscard]] virtual Result<std::vector<std::uint64_t>> audit_ends() = 0;
};

}  // namespace dormouse::port
