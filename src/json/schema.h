#pragma once
// JSON Schema check (draft 7 subset, valijson). The only place that names valijson.

#include <dormouse/error.h>
#include <dormouse/json.h>

#include <string>
#include <vector>

namespace dormouse::json {

struct Violation {
    std::string pointer;  // RFC 6901, into the value
    std::string message;
};

// Empty: `value` satisfies `schema`. A schema that is itself broken gives one violation with pointer "#".
[[nodiscard]] std::vector<Violation> violations(Json const& schema, Json const& value);

}  // namespace dormouse::json
