#pragma once
// Address space reserved for the moment when memory runs out. The first allocation that would fail
// gets it, so that the process can refuse work and free memory instead of ending. C++ allocations
// find it through std::new_handler, of which a process has one; therefore it is not passed to
// constructors.

#include <cstddef>

namespace dormouse::io {

// REQUIRES: at most one in a process, created before other threads. Members may be called from any
// thread.
class MemoryReserve {
public:
    explicit MemoryReserve(std::size_t bytes = std::size_t{48} << 20);
    ~MemoryReserve();
    MemoryReserve(MemoryReserve const&) = delete;
    MemoryReserve& operator=(MemoryReserve const&) = delete;

    // Returns true if the reserve was used and not yet refilled.
    [[nodiscard]] bool used() const;
    // Reserves it again. False: there is not enough memory yet.
    bool refill();

    // While it exists, its thread gets nothing of the reserve: allocations throw std::bad_alloc,
    // which the caller handles.
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
