#pragma once
// Adapts the library's gates to the agent layer.

#include <dormouse/gate.h>

#include "agent/tool.h"

namespace dormouse::runtime {

[[nodiscard]] agent::Gate adapt(Gate gate);

}  // namespace dormouse::runtime
