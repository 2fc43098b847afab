#pragma once
// The part of GET /api/doctor about what the store's database server guarantees. Pure.

#include "http/resources/operations/doctor/concerns.h"
#include "port/database.h"

#include <optional>
#include <string>

namespace dormouse::http {

// Says in one sentence for people what a failure of the database does to acknowledged results.
[[nodiscard]] std::string guarantee_of(port::DatabaseStatus const& status);

// Returns what an administrator should check; nullopt if there is nothing to check.
[[nodiscard]] std::optional<Concern> database_concern(port::DatabaseStatus const& status);

}  // namespace dormouse::http
