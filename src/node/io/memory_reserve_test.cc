#include "io/memory_reserve.h"

#include <gtest/gtest.h>

#include <new>
#include <thread>

namespace dormouse::io {
namespace {

// Does what operator new does when memory runs out.
void find_none() { std::get_new_handler()(); }

TEST(MemoryReserve, FirstFailedAllocation_GetsTheReserve) {
    MemoryReserve reserve;
    EXPECT_FALSE(reserve.used());
    find_none();
    EXPECT_TRUE(reserve.used());
    EXPECT_THROW(find_none(), std::bad_alloc) << "there is only one reserve";
    EXPECT_TRUE(reserve.refill());
    EXPECT_FALSE(reserve.used());
    find_none();
}

TEST(MemoryReserve, ThreadThatRefrains_DoesNotGetTheReserve) {
    MemoryReserve reserve;
    std::thread([&] {
        MemoryReserve::Refrain const refrain;
        EXPECT_THROW(find_none(), std::bad_alloc);
    }).join();
    EXPECT_FALSE(reserve.used());
    find_none();
    EXPECT_TRUE(reserve.used());
}

TEST(MemoryReserve, TooLarge_IsNotReserved) {
    MemoryReserve reserve(std::size_t{1} << 60);
    EXPECT_TRUE(reserve.used());
    EXPECT_FALSE(reserve.refill());
    EXPECT_THROW(find_none(), std::bad_alloc);
}

TEST(MemoryReserve, Destroyed_LeavesNoHandler) {
    { MemoryReserve reserve; }
    EXPECT_EQ(std::get_new_handler(), nullptr);
}

}  // namespace
}  // namespace dormouse::io
