#include "io/process/fd_limit.h"

#include <sys/resource.h>

#include <limits>

namespace dormouse::io {

std::size_t fd_limit() {
    rlimit limit{};
    // Cannot fail with these arguments; 1024 is Linux's default.
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::size_t>::max();
    return limit.rlim_cur;
}

std::size_t raise_fd_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        // If refused, the old limit stays, and fd_limit() returns it.
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
    }
    return fd_limit();
}

}  // namespace dormouse::io
