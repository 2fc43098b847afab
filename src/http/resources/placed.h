#pragma once
// Sessions that continue only on one of the processes that share the store, because their agent's
// program keeps something on its machine (State::node).

#include "http/resources/api.h"

#include <optional>
#include <string>

namespace dormouse::http {

// Returns true if the session continues only on a process that does not run now.
[[nodiscard]] bool waits_for_node(Api const& api, std::string const& node);

// Why this process cannot reach the session's program; nullopt: it can. Names the one that can.
[[nodiscard]] std::optional<Error> refuse_elsewhere(Api const& api, std::string const& node);

// Why no session can move to `node`; nullopt: it works on this store.
[[nodiscard]] std::optional<Error> refuse_target(Api const& api, std::string const& node);

}  // namespace dormouse::http
