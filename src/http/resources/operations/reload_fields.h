#pragma once
// The members of the answer of a reload (http/objects/fields.h).

#include "http/objects/fields.h"
#include "http/resources/operations/reload.h"

namespace dormouse::http {

template <>
inline constexpr auto rows<ReloadReport> = object(
    "Reload",
    "The changed settings, named by key: `[limits] waiting_calls`, `[[agent]] ops: instructions`.",
    field("applied", &ReloadReport::applied, "In force from now on."),
    field("needsRestart", &ReloadReport::needs_restart, "In force after the next start."),
    field("warnings", &ReloadReport::warnings));

}  // namespace dormouse::http
