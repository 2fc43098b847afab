#pragma once
// What `dormouse config init` writes: every key with its default, all of it in comments, so that
// the file says nothing until somebody takes a # away. "# " is prose, "#name" is configuration.

#include <string_view>

namespace dormouse::config {

[[nodiscard]] std::string_view example();

}  // namespace dormouse::config
