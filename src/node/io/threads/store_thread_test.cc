#include "io/threads/store_thread.h"

#include "io/loop.h"
#include "store/memory/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace dormouse::io {
namespace {

// A store that fails appends with an odd head, and records the threads on which it was called.
class OddStore final : public store::MemoryStore {
public:
    std::vector<port::AppendResult> commit(std::span<port::Append const> appends) override {
        commit_thread = std::this_thread::get_id();
        if (hold_commits.valid()) hold_commits.wait();
        ++commits;
        std::vector<port::AppendResult> results;
        for (auto const& append : appends) {
            if (append.after % 2 == 0)
                results.emplace_back();
            else
                results.emplace_back(fail(Code::conflict, "odd"));
        }
        return results;
    }
    Result<void> update_messages(std::span<port::OutboxUpdate const> updates) override {
        commit_thread = std::this_thread::get_id();
        if (updates.empty()) return fail(Code::conflict, "none");
        return {};
    }
    Result<void> ping() override {
        read_thread = std::this_thread::get_id();
        return {};
    }

    std::thread::id commit_thread;
    std::thread::id read_thread;
    std::shared_future<void> hold_commits;
    std::atomic<int> commits = 0;
};

std::vector<port::Append> append_after(Seq head) {
    std::vector<port::Append> appends(1);
    appends[0].after = head;
    return appends;
}

TEST(StoreThread, Answers_ComeOnTheLoopInOrder) {
    AsioLoop loop;
    OddStore store;
    StoreThread thread(store, loop);
    std::vector<Seq> order;
    std::vector<bool> done;
    auto const here = std::this_thread::get_id();
    for (Seq head = 0; head < 500; ++head) {
        thread.commit(append_after(head), [&, head](std::vector<port::AppendResult> results) {
            EXPECT_EQ(std::this_thread::get_id(), here);
            order.push_back(head);
            done.push_back(results.at(0).has_value());
            if (head == 499) loop.stop();
        });
    }
    EXPECT_TRUE(order.empty()) << "never inside the starting call";
    loop.run();
    ASSERT_EQ(order.size(), 500U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
    for (std::size_t i = 0; i < done.size(); ++i) EXPECT_EQ(done[i], i % 2 == 0);
    EXPECT_NE(store.commit_thread, here);
}

TEST(StoreThread, SlowCommit_DoesNotDelayReads) {
    AsioLoop loop;
    OddStore store;
    std::promise<void> release;
    store.hold_commits = release.get_future().share();
    StoreThread thread(store, loop);
    std::vector<std::string> order;
    thread.commit(append_after(0), [&](auto) {
        order.emplace_back("committed");
        loop.stop();
    });
    port::ask(
        thread, [](port::Store& inner) { return inner.ping(); },
        [&](Result<void> pinged) {
            EXPECT_TRUE(pinged);
            order.emplace_back("read");
            release.set_value();
        });
    loop.run();
    EXPECT_THAT(order, testing::ElementsAre("read", "committed"));
    EXPECT_NE(store.commit_thread, store.read_thread);
}

// A store that two threads may read at the same time.
class WideStore final : public store::MemoryStore {
public:
    [[nodiscard]] std::size_t readers() const override { return 2; }
};

TEST(StoreThread, ReadsOfOneKey_KeepTheirOrder_AndWaitForNoOther) {
    AsioLoop loop;
    WideStore store;
    StoreThread thread(store, loop);
    std::promise<void> release;
    std::vector<std::string> order;
    auto const note = [&order](char const* what) {
        return [&order, what] { order.emplace_back(what); };
    };
    thread.read(
        port::ReadKey{2}, [&](port::Store&) { release.get_future().wait(); }, note("first"));
    thread.read(port::ReadKey{2}, [](port::Store&) {}, note("second"));
    thread.read(
        port::ReadKey{3}, [](port::Store&) {},
        [&] {
            order.emplace_back("other");
            release.set_value();
        });
    thread.when_read([&] {
        order.emplace_back("all");
        loop.stop();
    });
    loop.run();
    EXPECT_THAT(order, testing::ElementsAre("other", "first", "second", "all"));
}

TEST(StoreThread, Stop_FinishesQueuedWork) {
    AsioLoop loop;
    OddStore store;
    StoreThread thread(store, loop);
    int answered = 0;
    for (Seq head = 0; head < 100; ++head) {
        thread.commit(append_after(head), [&](auto) { ++answered; });
    }
    thread.stop();
    EXPECT_EQ(store.commits, 100);
    loop.post([&] { loop.stop(); });
    loop.run();
    EXPECT_EQ(answered, 100);
}

TEST(StoreThread, Stopped_RefusesCommits) {
    AsioLoop loop;
    OddStore store;
    StoreThread thread(store, loop);
    thread.stop();
    thread.commit(append_after(0), [&](std::vector<port::AppendResult> results) {
        EXPECT_EQ(results.at(0).error().code, Code::store_unavailable);
        loop.stop();
    });
    thread.read(port::ReadKey::common, [](port::Store&) { FAIL(); }, [] { FAIL(); });
    loop.run();
    EXPECT_EQ(store.commits, 0);
}

}  // namespace
}  // namespace dormouse::io
