#pragma once
// Runs a read that may run out of memory. That fails the read, not the process.

#include <dormouse/error.h>

#include <new>

namespace dormouse::runner {

template <class Read> auto unless_memory_is_short(Read read) -> decltype(read()) {
    try {
        return read();
    } catch (std::bad_alloc const&) {
        return std::unexpected(Error{
            Code::overloaded, "There is not enough memory to read this session now.", {}, 1'000});
    }
}

}  // namespace dormouse::runner
