#pragma once
// Loading several sessions for the price of one.

#include "port/store.h"

#include <span>
#include <vector>

namespace dormouse::port {

// Implemented by a store that is asked over a network.
class ManyLoads {
public:
    virtual ~ManyLoads() = default;
    // Loads each session as load() does, in order. Each is as it was at one moment; each fails
    // alone.
    [[nodiscard]] virtual std::vector<Result<Loaded>> load_each(
        std::span<SessionId const> sessions) = 0;
};

// Loads through ManyLoads if the store has it.
[[nodiscard]] std::vector<Result<Loaded>> load_each(JournalStore& store,
                                                    std::span<SessionId const> sessions);

}  // namespace dormouse::port
