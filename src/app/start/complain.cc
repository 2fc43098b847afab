#include "app/start/complain.h"

#include <cstdio>

namespace dormouse::app {

int complain(std::string_view command, Error const& error) {
    std::fprintf(stderr, "dormouse %.*s: %s\n", static_cast<int>(command.size()), command.data(),
                 error.detail.c_str());
    return info(error.code).exit == 0 ? 1 : info(error.code).exit;
}

}  // namespace dormouse::app
