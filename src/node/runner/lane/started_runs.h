#pragma once
// The newest runs of tools that this process has started. The journal says what was started, unless
// the store fell back to an earlier state, as by the promotion of an asynchronous standby: then it
// may lack an outcome, or the start itself, of a run that this process has made (P4).

#include "base/crypto/sha256.h"
#include "session/effect.h"

#include <array>
#include <cstdint>
#include <deque>
#include <set>

namespace dormouse::runner {

class StartedRuns {
public:
    static constexpr std::size_t newest_max = 65'536;  // of about 64 bytes each

    // `known`: of how many runs; older ones are forgotten. 0: of none, for a store that never falls
    // back.
    explicit StartedRuns(std::size_t known) : known_(known) {}

    // Returns false if this process has started this run before. A run is the same if the call has
    // the same number, generation, attempt, tool and input: the lost history may have given it
    // another id.
    [[nodiscard]] bool add(SessionId session, session::RunTool const& run);
    // It was not started after all.
    void remove(SessionId session, session::RunTool const& run);

private:
    using Key = std::array<std::uint8_t, 16>;
    [[nodiscard]] static Key key_of(SessionId session, session::RunTool const& run);

    std::size_t const known_;
    std::set<Key> runs_;
    std::deque<Key> newest_;  // oldest first
};

}  // namespace dormouse::runner
