#pragma once
// What the database server below the store guarantees: part of GET /api/doctor. Pure.

#include "http/resources/operations/doctor/concerns.h"
#include "port/database.h"

#include <optional>
#include <string>

namespace dormouse::http {

// What happens to acknowledged results when the database fails: one sentence for people.
[[nodiscard]] std::string guarantee_of(port::DatabaseStatus const& status);

// nullopt: nothing to check.
[[nodiscard]] std::optional<Concern> database_concern(port::DatabaseStatus const& status);

}  // namespace dormouse::http
