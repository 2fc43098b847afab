#pragma once
// Addresses that others give us to call.

#include <string_view>

namespace dormouse {

inline constexpr std::size_t url_bytes_max = 2'048;

// Why `url` is none that may be called; empty: it may. It is absolute, http or https, names a host
// and neither a user nor a fragment, and has at most url_bytes_max bytes of visible ASCII.
[[nodiscard]] std::string_view wrong_url(std::string_view url);

}  // namespace dormouse
