#pragma once
// Objects of the API for programs, in other forms than JSON. Pure; safe for a terminal.

#include "json/json.h"

#include <string>

namespace dormouse::cli {

// Returns one document of YAML 1.2 in block style, ending in a line break.
[[nodiscard]] std::string yaml_text(json::View value);
// Returns the ids of the items of a list, or that of one object, one a line. An object without an
// id has a pendingID, a sessionID or a name.
[[nodiscard]] std::string names_text(json::View value);

}  // namespace dormouse::cli
