#pragma once
// The number of files (and so connections) that this process may hold open.

#include <cstddef>

namespace dormouse::io {

// The current RLIMIT_NOFILE.
[[nodiscard]] std::size_t fd_limit();
// Raises it to the hard limit if possible; returns the new limit.
std::size_t raise_fd_limit();

}  // namespace dormouse::io
