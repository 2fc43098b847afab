#pragma once
// The output of `dormouse config init`: every key of keys.h with its meaning and its default or an
// example. Everything is a comment, so the file changes nothing until a # is removed. "# " starts
// an explanation, "#name" a key.

#include <string>

namespace dormouse::config {

[[nodiscard]] std::string example();

}  // namespace dormouse::config
