#include "store/memory/memory_store.h"

#include "store/memory/conformance.h"

namespace dormouse::store {
namespace {

class Memory final : public StoreUnderTest {
public:
    port::Store& store() override { return *store_; }
    void reopen() override { store_ = std::make_unique<MemoryStore>(disk_); }

private:
    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::unique_ptr<MemoryStore> store_ = std::make_unique<MemoryStore>(disk_);
};

INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance,
                         testing::Values(StoreKind{"memory",
                                                   [] { return std::make_unique<Memory>(); }}),
                         testing::PrintToStringParamName());

TEST(MemoryStore, StoresWithoutADisk_ShareNothing) {
    MemoryStore one;
    MemoryStore other;
    auto const made = create(1, "acme");
    ASSERT_TRUE(one.commit({&made, 1})[0]);
    EXPECT_TRUE(one.load(session(1)).value().row);
    EXPECT_FALSE(other.load(session(1)).value().row);
    EXPECT_EQ(other.epoch(), 1u);
}

TEST(MemoryStore, Post_OfASharedDisk_IsTakenOnce) {
    auto const disk = std::make_shared<MemoryDisk>();
    MemoryStore one(disk, 100, true);
    MemoryStore other(disk, 100, true);
    auto first = create(1, "acme");
    first.posts = {post(1, 1, 0, "session", 0)};
    first.epoch = one.epoch();
    ASSERT_TRUE(one.commit({&first, 1})[0]);
    auto given = create(2, "acme");
    given.taken = {first.posts[0].key};
    given.epoch = one.epoch();
    ASSERT_TRUE(one.commit({&given, 1})[0]);
    auto back = append(1, 1);
    back.taken = {first.posts[0].key};
    back.epoch = other.epoch();
    auto const result = other.commit({&back, 1})[0];
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().cause, port::AppendError::Cause::moved);
}

TEST(MemoryStore, Feed_KeepsOnlyTheNewestAppends) {
    MemoryStore store(std::make_shared<MemoryDisk>(), 100);
    expect_that_only_the_newest_100_are_kept(store);
}

}  // namespace
}  // namespace dormouse::store
