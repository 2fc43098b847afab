#pragma once
// The differences between two JSON values, for people who review edited arguments. Pure.

#include "json/json.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::json {

// One place at which two values differ.
struct Change {
    std::string name = {};                   // "target", "options.region"; empty: the whole value
    std::optional<std::string> before = {};  // JSON; nullopt: added
    std::optional<std::string> after = {};   // JSON; nullopt: removed
    friend bool operator==(Change const&, Change const&) = default;
};

// Compares objects member by member and other values as a whole. Values that differ only in
// spelling (1.0 and 1, the order of members) are equal. In the order of `before`; added members
// come last.
[[nodiscard]] std::vector<Change> changes(View before, View after);

}  // namespace dormouse::json
