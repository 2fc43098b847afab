#include "store/memory/memory_store.h"

#include "store/memory/conformance.h"
#include "store/memory/conformance_shared_fixture.h"

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

class SharedMemory final : public SharedUnderTest {
public:
    port::Store& store(std::size_t place) override { return at(place); }
    void remove(std::size_t place) override { at(place).declare_gone(at(place).epoch()); }
    void join(std::size_t place) override { at(place).join(); }

private:
    MemoryStore& at(std::size_t place) {
        while (stores_.size() <= place)
            stores_.push_back(std::make_unique<MemoryStore>(disk_, 100'000, true));
        return *stores_[place];
    }

    std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
    std::vector<std::unique_ptr<MemoryStore>> stores_;
};

std::unique_ptr<SharedUnderTest> make_shared_memory() { return std::make_unique<SharedMemory>(); }

INSTANTIATE_TEST_SUITE_P(Memory, SharedConformance,
                         testing::Values(SharedKind{"memory", 2, make_shared_memory},
                                         SharedKind{"memory", 3, make_shared_memory}),
                         testing::PrintToStringParamName());

// As an asynchronous standby that is promoted: one process is known to it, and one is not.
TEST(MemoryStore, DiskFallsBack_WhatWasWrittenSinceIsNoticedByHeadAndStamp) {
    auto const disk = std::make_shared<MemoryDisk>();
    MemoryStore one(disk, 100, true);
    auto const write = [](MemoryStore& store, port::Append append, std::string bytes = "[]") {
        append.epoch = store.epoch();
        append.frame.bytes = std::move(bytes);
        return store.commit({&append, 1})[0];
    };
    ASSERT_TRUE(write(one, create(1, "acme")));
    auto const earlier = disk->copy();
    MemoryStore other(disk, 100, true);
    auto const lost = write(other, append(1, 1), "[\"lost\"]");
    ASSERT_TRUE(lost);
    disk->fall_back(earlier);
    EXPECT_TRUE(one.takes_part());
    EXPECT_FALSE(other.takes_part());
    MemoryStore third(disk, 100, true);
    EXPECT_EQ(third.epoch(), other.epoch()) << "the number is given out again";
    EXPECT_EQ(write(other, append(1, 1)).error().cause, port::AppendError::Cause::fenced);
    ASSERT_TRUE(write(one, append(1, 1), "[\"new\"]"));
    auto next = append(1, 2);
    next.stamp = *lost;
    EXPECT_TRUE(moved(write(one, next)));
    other.join();
    EXPECT_TRUE(other.takes_part());
    EXPECT_EQ(other.load(session(1)).value().tail.size(), 2U);
}

TEST(MemoryStore, StoresWithoutADisk_ShareNothing) {
    MemoryStore one;
    MemoryStore other;
    auto const made = create(1, "acme");
    ASSERT_TRUE(one.commit({&made, 1})[0]);
    EXPECT_TRUE(one.load(session(1)).value().row);
    EXPECT_FALSE(other.load(session(1)).value().row);
    EXPECT_EQ(other.epoch(), 1u);
}

TEST(MemoryStore, OutboxMessage_OfASharedDisk_IsTakenOnce) {
    auto const disk = std::make_shared<MemoryDisk>();
    MemoryStore one(disk, 100, true);
    MemoryStore other(disk, 100, true);
    auto first = create(1, "acme");
    first.outbox = {outbox_row(1, 1, 0, "session", 0)};
    first.epoch = one.epoch();
    ASSERT_TRUE(one.commit({&first, 1})[0]);
    auto given = create(2, "acme");
    given.taken = {first.outbox[0].key};
    given.epoch = one.epoch();
    ASSERT_TRUE(one.commit({&given, 1})[0]);
    auto back = append(1, 1);
    back.taken = {first.outbox[0].key};
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
