#pragma once
// The result of a reload of the configuration.

#include <string>
#include <vector>

namespace dormouse::http {

struct ReloadReport {
    // The changed settings, by key: "[limits] waiting_calls", "[[agent]] ops: instructions".
    std::vector<std::string> applied = {};        // in force from now on
    std::vector<std::string> needs_restart = {};  // in force after the next start
    std::vector<std::string> warnings = {};
};

}  // namespace dormouse::http
