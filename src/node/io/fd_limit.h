#pragma once
// The number of files (and so connections) that this process may hold open.

#include <cstddef>

namespace dormouse::io {

// RLIMIT_NOFILE as it stands.
[[nodiscard]] std::size_t fd_limit();
// Raises it to the hard limit, as far as the system allows, and returns what stands then.
std::size_t raise_fd_limit();

}  // namespace dormouse::io
