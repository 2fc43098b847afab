#pragma once
// What `dormouse config init` writes: every key of keys.h with its meaning and its default or an
// example, all of it in comments, so that the file says nothing until somebody takes a # away. "# "
// is prose, "#name" is configuration.

#include <string>

namespace dormouse::config {

[[nodiscard]] std::string example();

}  // namespace dormouse::config
