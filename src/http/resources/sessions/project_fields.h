#pragma once
// The members of a project (http/objects/fields.h).

#include "http/objects/fields.h"

#include <string>

namespace dormouse::http {

struct ProjectEntry {
    std::string id;
};
template <>
inline constexpr auto rows<ProjectEntry> = object(
    "Project", "A group of sessions that tokens are limited to.", field("id", &ProjectEntry::id));

}  // namespace dormouse::http
