#pragma once
// Waits in tests for effects of another thread or process that it does not report.

#include <chrono>
#include <thread>

namespace dormouse {

// Returns once `is_so()` is false, or after 20 s; the test's own check then fails.
template <class Condition> void wait_while(Condition is_so) {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (is_so() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the one loop of C++ tests
}

}  // namespace dormouse
