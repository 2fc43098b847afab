#pragma once
// Bounds of a call that a client or the program makes itself (session::Create::Ask): the same for
// HTTP and the library.

#include <cstddef>
#include <string_view>

namespace dormouse::wire::asked {

inline constexpr std::size_t text_max = std::size_t{16} << 10;       // of the question
inline constexpr std::size_t arguments_max = std::size_t{64} << 10;  // compact
inline constexpr std::size_t schema_max = std::size_t{32} << 10;
inline constexpr std::string_view tool_pattern = "[A-Za-z0-9_.:/-]{1,128}";

}  // namespace dormouse::wire::asked
