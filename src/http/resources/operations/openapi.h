#pragma once

#include <string_view>

namespace dormouse::http {

// Returns the OpenAPI 3.1 document of all routes: openapi.json in this folder, embedded at build
// time.
[[nodiscard]] std::string_view openapi_document();

}  // namespace dormouse::http
