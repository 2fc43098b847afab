#pragma once
// CHECK stays on in release builds: a broken invariant stops the process before it can write.

namespace dormouse {
[[noreturn]] void check_failed(char const* condition, char const* file, int line);
}  // namespace dormouse

#define CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::dormouse::check_failed(#condition, __FILE__, __LINE__))
