#pragma once
// Adapts interceptors of turns to the agent layer: they run on tool threads, with a time limit for
// each question.

#include <dormouse/turn.h>

#include "agent/tool.h"
#include "port/world.h"

namespace dormouse::runtime {

// `workers` and `loop` outlive the returned function.
[[nodiscard]] agent::AskTurn adapt(std::vector<TurnInterceptor> interceptors,
                                   port::Workers& workers, port::Loop& loop,
                                   Duration limit = Duration(60'000));

}  // namespace dormouse::runtime
