#pragma once
// Gates of the library's face as the agent layer asks them.

#include <dormouse/gate.h>

#include "agent/tool.h"

namespace dormouse::runtime {

[[nodiscard]] agent::Gate adapt(Gate gate);

}  // namespace dormouse::runtime
