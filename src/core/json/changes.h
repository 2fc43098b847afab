#pragma once
// What differs between two JSON values, for people who look at edited arguments. Pure.

#include "json/json.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::json {

// One place at which two values differ.
struct Change {
    std::string name = {};                   // "target", "options.region"; empty: the whole value
    std::optional<std::string> before = {};  // JSON; nullopt: it was added
    std::optional<std::string> after = {};   // JSON; nullopt: it was removed
    friend bool operator==(Change const&, Change const&) = default;
};

// Objects are compared member by member, everything else as a whole; values that differ only in
// spelling (1.0 and 1, the order of members) are equal. In the order of `before`, added ones last.
[[nodiscard]] std::vector<Change> changes(View before, View after);

}  // namespace dormouse::json
