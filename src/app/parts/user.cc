#include "app/parts/user.h"

#include <pwd.h>
#include <unistd.h>

namespace dormouse::app {

std::string user_name() {
    auto const* const user = ::getpwuid(::getuid());
    return user ? user->pw_name : std::to_string(::getuid());
}

}  // namespace dormouse::app
