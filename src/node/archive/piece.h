#pragma once
// The texts that the pieces of an encrypted file are bound to (additional authenticated data).

#include "archive/index_file.h"

#include <string>

namespace dormouse::archive {

inline std::string bound_session(Entry const& entry) {
    return "archive session\n" + entry.id.bare() + "\n" + std::to_string(entry.head);
}
inline constexpr std::string_view bound_first = "archive first line";
inline constexpr std::string_view bound_last = "archive last line";

}  // namespace dormouse::archive
