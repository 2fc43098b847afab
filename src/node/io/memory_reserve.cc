#include "io/memory_reserve.h"

#include <sys/mman.h>

#include <atomic>
#include <new>

// Functions of jemalloc, which is linked where installed, and of glibc. app/main.cc configures
// jemalloc to return free memory.
extern "C" {
[[gnu::weak]] extern int mallctl(char const* name, void* old_value, std::size_t* old_bytes,
                                 void* new_value, std::size_t new_bytes);
[[gnu::weak]] extern int malloc_trim(std::size_t pad);
}

namespace dormouse::io {

namespace {

// Returns unused memory of the allocator to the system.
void return_free_memory() {
    if (mallctl != nullptr) {
        mallctl("arena.4096.purge", nullptr, nullptr, nullptr, 0);  // 4096: all arenas
    } else if (malloc_trim != nullptr) {
        malloc_trim(0);
    }
}

// Used by std::new_handler. The size is set before the block; both belong to the one MemoryReserve.
constinit std::atomic<void*> block{nullptr};
constinit std::atomic<std::size_t> block_bytes{0};
constinit thread_local int refrains = 0;

// Frees the reserve, so that the allocation is tried again; throws if it was already freed.
void free_reserve() {
    void* const reserved = refrains > 0 ? nullptr : block.exchange(nullptr);
    if (reserved == nullptr) throw std::bad_alloc();
    ::munmap(reserved, block_bytes);
}

}  // namespace

MemoryReserve::MemoryReserve(std::size_t bytes) : bytes_(bytes) {
    block_bytes = bytes_;
    (void)refill();
    std::set_new_handler(free_reserve);
}

MemoryReserve::~MemoryReserve() {
    std::set_new_handler(nullptr);
    if (void* const reserved = block.exchange(nullptr)) ::munmap(reserved, bytes_);
}

bool MemoryReserve::used() const { return block == nullptr; }

bool MemoryReserve::refill() {
    if (!used()) return true;
    return_free_memory();
    void* const taken =
        ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (taken == MAP_FAILED) return false;
    block = taken;
    return true;
}

MemoryReserve::Refrain::Refrain() { ++refrains; }
MemoryReserve::Refrain::~Refrain() { --refrains; }

}  // namespace dormouse::io
