#include "io/memory_reserve.h"

#include <malloc.h>
#include <sys/mman.h>

#include <atomic>
#include <new>

namespace dormouse::io {

namespace {

// What std::new_handler reaches. The size is set before the block, and both are of one
// MemoryReserve.
constinit std::atomic<void*> block{nullptr};
constinit std::atomic<std::size_t> block_bytes{0};
constinit thread_local int refrains = 0;

// Returns when it has freed something, so that the allocation is tried again.
void free_reserve() {
    void* const held = refrains > 0 ? nullptr : block.exchange(nullptr);
    if (held == nullptr) throw std::bad_alloc();
    ::munmap(held, block_bytes);
}

}  // namespace

MemoryReserve::MemoryReserve(std::size_t bytes) : bytes_(bytes) {
    block_bytes = bytes_;
    (void)refill();
    std::set_new_handler(free_reserve);
}

MemoryReserve::~MemoryReserve() {
    std::set_new_handler(nullptr);
    if (void* const held = block.exchange(nullptr)) ::munmap(held, bytes_);
}

bool MemoryReserve::used() const { return block == nullptr; }

bool MemoryReserve::refill() {
    if (!used()) return true;
    ::malloc_trim(0);
    void* const taken =
        ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (taken == MAP_FAILED) return false;
    block = taken;
    return true;
}

MemoryReserve::Refrain::Refrain() { ++refrains; }
MemoryReserve::Refrain::~Refrain() { --refrains; }

}  // namespace dormouse::io
