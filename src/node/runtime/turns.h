#pragma once
// Interceptors of turns as the agent layer asks them: on tool threads, each question within a
// minute.

#include <dormouse/turn.h>

#include "agent/tool.h"
#include "port/world.h"

namespace dormouse::runtime {

// Workers and loop outlive what it returns.
[[nodiscard]] agent::AskTurn adapt(std::vector<TurnInterceptor> interceptors,
                                   port::Workers& workers, port::Loop& loop,
                                   Duration limit = Duration(60'000));

}  // namespace dormouse::runtime
