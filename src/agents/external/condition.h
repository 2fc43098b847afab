#pragma once
// A condition of a gate on one argument of a call.

#include "json/json.h"
#include "json/schema/pattern.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::external {

// Holds if each member that is set fits. REQUIRES: `pattern` is valid, and one member is set.
struct Condition {
    std::string pointer;  // JSON pointer into the arguments
    Json equals = {};     // a text, number or truth value; null: not set
    std::optional<std::string> pattern = {};
    std::optional<double> min = {}, max = {};
};

// Conditions with their patterns compiled. May be shared by threads.
class Conditions {
public:
    explicit Conditions(std::vector<Condition> all);

    // False: an argument is there, has the type that its condition expects, and does not fit. An
    // argument that is missing or of another type does not make it false: a person decides.
    [[nodiscard]] bool may_hold(Json const& input) const;

private:
    struct Compiled {
        Condition condition;
        std::shared_ptr<json::Pattern const> pattern;  // nullptr: none
    };
    [[nodiscard]] static bool excluded(Compiled const& one, json::View value);

    std::vector<Compiled> all_;
};

}  // namespace dormouse::external
