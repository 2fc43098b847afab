#pragma once
// Imports whole sessions into the store of a runner that works. Each is read and checked off the
// loop; its rows are written in pieces between the appends of others.

#include "port/world.h"
#include "runner/transfer/import.h"
#include "runner/transfer/place.h"

#include <functional>
#include <memory>
#include <vector>

namespace dormouse::runner {

class Runner;

// A session of an export; null: it cannot be imported (result.error).
struct Arrival {
    ImportedSession result;
    std::shared_ptr<Placing> placing;
};

// The sessions of an export, checked. Blocks. Errors: bad_value, newer_format: it is no whole
// export. `second`: the number of the second line, for errors.
[[nodiscard]] Result<std::vector<Arrival>> read_sessions(TransferSource const& next,
                                                         std::uint64_t second);

// The treatment of sessions with outstanding work.
enum class LiveWork : std::uint8_t {
    refused,  // unless the store holds
    started,  // they continue here at once
};

struct LiveImport {
    ImportOptions options;
    LiveWork work = LiveWork::refused;
    std::vector<Arrival> sessions;
    // Asked before each session; false: the rest is left out.
    std::function<bool()> wanted;
    // Gets the last append of each session that was written.
    std::function<void(port::FeedRow const&)> written;
};

// Writes one after the other. Errors of `done`: those of the store; sessions before it are there.
// REQUIRES: `runner` and `journal` live until `done` was called.
void import_live(Runner& runner, port::Journal& journal, LiveImport import,
                 port::Fn<void(Result<std::vector<ImportedSession>>)> done);

}  // namespace dormouse::runner
