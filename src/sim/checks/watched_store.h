#pragma once
// A store that several processes share, and checks what they append: P12. One process at a time
// drives a session, and only that one decides what starts.

#include "sim/bugs.h"
#include "sim/checks/findings.h"
#include "store/memory/memory_store.h"

namespace dormouse::sim {

class WatchedStore final : public PlantedStore {
public:
    // `findings` must outlive this object.
    WatchedStore(std::shared_ptr<store::MemoryDisk> disk, bool shared, Bug bug, Findings& findings)
        : PlantedStore(disk, shared, bug), disk_(std::move(disk)), findings_(findings) {}

    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override;

private:
    struct Before {
        Epoch driver = 0;
        port::Stamp stamp{};  // of the newest frame
    };
    [[nodiscard]] Before before(SessionId session) const;
    void check(port::Append const& append, bool takes_part);

    std::shared_ptr<store::MemoryDisk> const disk_;
    Findings& findings_;
};

}  // namespace dormouse::sim
