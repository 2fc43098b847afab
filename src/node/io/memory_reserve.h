#pragma once
// Address space that is kept for the moment when there is no more memory. The first allocation that
// would fail gets it, so that the process can refuse work and free memory instead of ending.
// Allocations in C++ find it by std::new_handler, which the process has once: so this is the one
// thing here that is not given to a constructor.

#include <cstddef>

namespace dormouse::io {

// REQUIRES: at most one in a process, made before other threads are. Members are called from any
// thread.
class MemoryReserve {
public:
    explicit MemoryReserve(std::size_t bytes = std::size_t{48} << 20);
    ~MemoryReserve();
    MemoryReserve(MemoryReserve const&) = delete;
    MemoryReserve& operator=(MemoryReserve const&) = delete;

    // It has been used, and not been taken again since.
    [[nodiscard]] bool used() const;
    // Takes it again. False: there is not memory enough yet.
    bool refill();

    // While one lives, its thread gets nothing of the reserve: std::bad_alloc, which its caller
    // handles.
    class Refrain {
    public:
        Refrain();
        ~Refrain();
        Refrain(Refrain const&) = delete;
        Refrain& operator=(Refrain const&) = delete;
    };

private:
    std::size_t const bytes_;
};

}  // namespace dormouse::io
