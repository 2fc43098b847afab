#include "store/sqlite/memory.h"

#include <malloc.h>
#include <sqlite3.h>

#include <cstdlib>
#include <mutex>
#include <new>

namespace dormouse::store::sqlite {

namespace {

// Returns false if nothing can be freed.
bool free_some() {
    std::new_handler const handler = std::get_new_handler();
    if (handler == nullptr) return false;
    try {
        handler();
        return true;
    } catch (std::bad_alloc const&) {
        return false;
    }
}

void* reallocate(void* old, int bytes) {
    for (;;) {
        if (void* const got = std::realloc(old, static_cast<std::size_t>(bytes))) return got;
        if (!free_some()) return nullptr;
    }
}

void* allocate(int bytes) { return reallocate(nullptr, bytes); }
int size_of(void* block) { return static_cast<int>(::malloc_usable_size(block)); }
int round_up(int bytes) { return (bytes + 7) & ~7; }
int begin(void*) { return SQLITE_OK; }
void end(void*) {}

}  // namespace

void use_process_memory() {
    static std::once_flag once;
    std::call_once(once, [] {
        sqlite3_mem_methods const methods{allocate, std::free, reallocate, size_of,
                                          round_up, begin,     end,        nullptr};
        sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
    });
}

}  // namespace dormouse::store::sqlite
