#pragma once
// Reads what other processes append, so that nobody on this process waits for it: the counterpart
// of runtime/nodes/follower.h.

#include "port/store.h"
#include "port/world.h"

#include <cstdint>
#include <functional>

namespace dormouse::sim {

// Nothing of this runs after Machine::kill().
class FeedReader {
public:
    struct Listener {
        std::function<void(port::FeedRow const&)> appended;
        // The feed is another one than before: nothing that memory holds of sessions counts.
        std::function<void()> lost;
    };

    // `journal` outlives this. `falls`: how often the disk fell back.
    FeedReader(port::Journal& journal, std::uint64_t end, std::function<std::uint64_t()> falls,
               Listener listener);

    // A signal of another process, or a heartbeat: reads what is new.
    void read();

private:
    void take(Result<port::FeedPage> const& page);

    port::Journal& journal_;
    std::function<std::uint64_t()> const falls_;
    Listener const listener_;
    std::uint64_t next_;  // everything up to this number has been read
    std::uint64_t fallen_;
    bool reading_ = false;
    bool again_ = false;
};

}  // namespace dormouse::sim
