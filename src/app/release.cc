#include "app/release.h"

namespace dormouse::app {

char const* release() { return DORMOUSE_RELEASE; }

}  // namespace dormouse::app
