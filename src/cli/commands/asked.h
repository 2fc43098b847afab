#pragma once
// Shared by `ask` and `hook`: calls that a command makes to ask people.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include "json/json.h"

#include <string>
#include <vector>

namespace dormouse::cli {

// Returns true if the call has its final state.
[[nodiscard]] bool is_settled(Json const& call);

// Writes the member `answer`: who may answer (empty: anyone), and how many must agree.
void write_answerers(json::Writer& out, std::vector<std::string> const& by, int votes);

// The delay before the next attempt to reach a server that went away, after `tries` attempts.
[[nodiscard]] Duration away_delay(int tries);

// The target of the request that cancels the call.
[[nodiscard]] std::string cancel_target(std::string const& id, std::string const& reason);

}  // namespace dormouse::cli
