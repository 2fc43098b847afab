#pragma once
// Compares the configuration in force with a new one: the changes that a running server applies,
// and those that need a restart.

#include "config/config.h"
#include "config/keys.h"

#include <string>
#include <vector>

namespace dormouse::config {

struct Change {
    enum class How : std::uint8_t { added, removed, changed };
    std::string heading;    // "[limits]", "[[agent]]"
    std::string name = {};  // of an element of a list
    // The key; empty: the whole element, or a value that no key holds alone.
    std::string key = {};
    How how = How::changed;
    Applies applies = Applies::reload;
    friend bool operator==(Change const&, Change const&) = default;
};
// "[[agent]] ops: instructions", "[[tool]] lint (added)"
[[nodiscard]] std::string text(Change const& change);

// Returns the changes in the order of the sections, also of secrets and files whose content has
// changed.
[[nodiscard]] std::vector<Change> changes(Config const& in_force, Config const& next);

// Returns `next` with the values in force for settings that need a restart.
[[nodiscard]] Config applicable(Config const& in_force, Config next);

}  // namespace dormouse::config
