#include "io/fd_limit.h"

#include <sys/resource.h>

#include <limits>

namespace dormouse::io {

std::size_t fd_limit() {
    rlimit limit{};
    // Cannot fail with these arguments; if it did, 1024 is what Linux starts with.
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
    if (limit.rlim_cur == RLIM_INFINITY) return std::numeric_limits<std::size_t>::max();
    return limit.rlim_cur;
}

std::size_t raise_fd_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        // A refusal leaves the old limit standing, which is what fd_limit() then says.
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
    }
    return fd_limit();
}

}  // namespace dormouse::io
