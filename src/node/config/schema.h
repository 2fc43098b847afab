#pragma once
// The JSON Schema (draft 7) of dormouse.toml for editors, from the rows of keys.h. It knows keys,
// types, words, numbers and the forms of texts; what one value needs of another, of files and of
// the environment, is for `dormouse config check`.

#include <string>

namespace dormouse::config {

[[nodiscard]] std::string schema();

}  // namespace dormouse::config
