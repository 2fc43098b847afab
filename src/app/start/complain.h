#pragma once

#include <dormouse/error.h>

#include <string_view>

namespace dormouse::app {

// Says on stderr why `dormouse COMMAND` failed; returns its exit status, never 0.
int complain(std::string_view command, Error const& error);

}  // namespace dormouse::app
