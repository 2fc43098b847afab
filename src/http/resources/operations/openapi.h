#pragma once

#include <string_view>

namespace dormouse::server {

// The OpenAPI 3.1 document of all routes: openapi.json in this folder, as it stood at the build.
[[nodiscard]] std::string_view openapi_document();

}  // namespace dormouse::server
