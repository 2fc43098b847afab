#pragma once
// Bounds that several keys share.

#include <cstdint>

namespace dormouse::config {

inline constexpr std::int64_t second = 1'000;
inline constexpr std::int64_t day = 24 * 3'600 * second;
inline constexpr std::int64_t year = 366 * day;
inline constexpr std::int64_t text_max = 4'096;
inline constexpr std::int64_t prose_max = 262'144;
inline constexpr std::int64_t mib = 1'048'576;
inline constexpr std::int64_t many = 1'000'000;

}  // namespace dormouse::config
