#pragma once
// The state of the continuous copy of the data directory, for dormouse doctor.

#include "json/json.h"

#include <dormouse/time.h>

#include <string>

namespace dormouse::cli {

// `copy`: of GET /api/doctor. Empty: there is none.
[[nodiscard]] std::string copy_text(json::View copy, Time now);

}  // namespace dormouse::cli
