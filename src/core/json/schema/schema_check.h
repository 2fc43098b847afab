#pragma once
// Checks a value against a schema read by valijson.

#include "json/schema/schema.h"
#include "json/schema/schema_patterns.h"

#include <boost/json/value.hpp>

// valijson aborts the process on a broken schema unless it may throw.
#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace dormouse::json {

// Returns at most 100 violations; nullopt: the check takes more than `steps` steps, which are fewer
// than steps_max. `value` was parsed from its canonical form; `patterns` are those of `schema`.
// Throws std::exception for a schema without end.
[[nodiscard]] std::optional<std::vector<Violation>> check_value(valijson::Schema const& schema,
                                                                Patterns const& patterns,
                                                                std::size_t steps,
                                                                boost::json::value const& value);

}  // namespace dormouse::json
