#pragma once
// The compiled patterns of a schema read by valijson.

#include "json/schema/pattern.h"

#include <string>
#include <unordered_map>

namespace valijson {
class Subschema;
}

namespace dormouse::json {

using Patterns = std::unordered_map<std::string, Pattern>;

// Throws std::runtime_error if a pattern is invalid, or if the schema is one that valijson accepts
// but that cannot be checked.
[[nodiscard]] Patterns patterns_of(valijson::Subschema const& schema);

}  // namespace dormouse::json
