#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace dormouse {

void check_failed(char const* condition, char const* file, int line) {
    std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    std::abort();
}

}  // namespace dormouse
