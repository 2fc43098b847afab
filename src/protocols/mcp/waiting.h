#pragma once
// Repeats a request that waits until its answer is final, its time is over or the client has
// withdrawn its own request. Pure.

#include "mcp/api.h"

#include <optional>

namespace dormouse::mcp {

struct Waiting {
    std::string target;                             // of the GET; has no query
    std::function<bool(Json const& answer)> final;  // the answer needs no more waiting
    std::optional<Time> until = {};                 // nullopt: no limit
};

// Returns true if a pending call has its final state.
[[nodiscard]] bool is_settled(Json const& call);

// Sends a GET, and again while the server is away, until the ticket is cancelled. `ticket`: null
// sends it once.
void ask_until_back(ApiPtr const& api, std::string target, TicketPtr const& ticket, ApiDone done);

// `done` gets the last answer, which is not final when the time was over or the ticket was
// cancelled. Requests are repeated while the server is away.
void wait_for(ApiPtr const& api, Waiting waiting, TicketPtr const& ticket, ApiDone done);

}  // namespace dormouse::mcp
