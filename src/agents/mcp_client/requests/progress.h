#pragma once
// Progress that servers report of calls, as progress of those calls. On the loop.

#include <dormouse/id.h>

#include "base/scope.h"
#include "json/json.h"
#include "port/world.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace dormouse::mcp_client {

inline constexpr std::size_t progress_message_bytes_max = 1'024;

// The payload of a call's progress: `progress`, `total` and `message`, as far as the server gives
// them; null: it gives none. Pure.
[[nodiscard]] Json read_progress(json::View params);
// The payload for the message alone. Pure.
[[nodiscard]] Json progress_of(std::string const& message);

// Passes on at most one report a second of each call, always the newest, and at most `reports_max`
// of each.
class Progress {
public:
    static constexpr Duration pause{1'000};
    static constexpr std::uint32_t reports_max = 1'000;
    using Report = std::function<void(PendingId const& call, Json payload)>;

    // `loop` outlives this.
    Progress(port::Loop& loop, Report report) : loop_(loop), report_(std::move(report)) {}

    void note(PendingId const& call, Json payload);
    // The call has ended; what was not passed on yet is dropped.
    void ended(PendingId const& call);

private:
    using Key = std::pair<SessionId, CallNo>;
    struct Line {
        PendingId call;
        std::uint32_t reports = 0;
        bool waits = false;  // the pause after a report
        Json newest = {};    // null: nothing to pass on
    };

    void pass_on(Key const& key);

    port::Loop& loop_;
    Report report_;
    std::map<Key, Line> lines_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
