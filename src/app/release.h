#pragma once
// The release of this program.

namespace dormouse::app {

// "MAJOR.MINOR.PATCH", as CMakeLists.txt names it. The one source that is compiled with the number:
// the others are compiled together.
[[nodiscard]] char const* release();

}  // namespace dormouse::app
