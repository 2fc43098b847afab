#pragma once
// The patterns of a schema that valijson has read.

#include "json/pattern.h"

#include <string>
#include <unordered_map>

namespace valijson {
class Subschema;
}

namespace dormouse::json {

using Patterns = std::unordered_map<std::string, Pattern>;

// Throws std::runtime_error if one is none, or if no value can be checked against the schema though
// valijson has read it.
[[nodiscard]] Patterns patterns_of(valijson::Subschema const& schema);

}  // namespace dormouse::json
