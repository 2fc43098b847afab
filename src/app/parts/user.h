#pragma once
// The person who runs this command.

#include <string>

namespace dormouse::app {

// Returns the name of the system's user, or its number.
[[nodiscard]] std::string user_name();

}  // namespace dormouse::app
