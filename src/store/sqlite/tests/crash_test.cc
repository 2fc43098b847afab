// After SIGKILL at any moment, every acknowledged append is stored and no append is stored in part.
#include "store/memory/conformance_fixture.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/tests/test_directory.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <random>

namespace dormouse::store {
namespace {

constexpr std::uint64_t sessions = 8;

// Runs in the child: appends to all sessions in each commit and acknowledges it, until it is
// killed.
[[noreturn]] void append_for_ever(std::filesystem::path const& directory, int acks) {
    auto const store = SqliteStore::open(directory);
    if (!store) _exit(1);
    std::array<Seq, sessions + 1> heads{};
    for (std::uint64_t number = 1; number <= sessions; ++number) {
        auto const loaded = (*store)->load(session(number));
        if (!loaded) _exit(2);
        if (!loaded->tail.empty())
            heads[number] = loaded->tail.back().first + loaded->tail.back().count - 1;
    }
    for (;;) {
        std::vector<port::Append> batch;
        for (std::uint64_t number = 1; number <= sessions; ++number) {
            Seq& head = heads[number];
            batch.push_back(head == 0 ? create(number, "acme", 2) : append(number, head, 2));
            batch.back().frame.bytes += std::string(head % 7 * 300, ' ');
            batch.back().keys = {{std::to_string(head), head + 1}};
            batch.back().wake_at = at(static_cast<std::int64_t>(head));
            head += 2;
        }
        for (auto const& result : (*store)->commit(batch))
            if (!result) _exit(3);
        if (write(acks, heads.data(), sizeof heads) != sizeof heads) _exit(4);
    }
}

// Kills the child at some time after so many acknowledgements. Returns its last one.
std::array<Seq, sessions + 1> run_and_kill(std::filesystem::path const& directory,
                                           unsigned acknowledgements) {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    auto const child = fork();
    if (child == 0) append_for_ever(directory, ends[1]);
    close(ends[1]);
    std::array<Seq, sessions + 1> acked{};
    for (unsigned i = 0; i < acknowledgements; ++i)
        EXPECT_EQ(read(ends[0], acked.data(), sizeof acked), static_cast<ssize_t>(sizeof acked));
    EXPECT_EQ(kill(child, SIGKILL), 0);
    while (read(ends[0], acked.data(), sizeof acked) == sizeof acked) {}
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "the child exited with status" << WEXITSTATUS(status);
    return acked;
}

TEST(Crash, Killed_LosesNoAcknowledgedAppend) {
    TestDirectory const directory;
    std::mt19937 random(20261121);
    Epoch epoch = 0;
    for (int cycle = 0; cycle < 20; ++cycle) {
        auto const acked = run_and_kill(directory.path(), 1 + static_cast<unsigned>(random() % 60));
        auto const store = SqliteStore::open(directory.path());
        ASSERT_TRUE(store) << store.error().detail;
        EXPECT_EQ((*store)->epoch(), epoch += 2);
        for (std::uint64_t number = 1; number <= sessions; ++number) {
            auto const loaded = (*store)->load(session(number));
            ASSERT_TRUE(loaded) << loaded.error().detail;
            auto const head = loaded->tail.size() * 2;
            EXPECT_GE(head, acked[number]);
            EXPECT_LE(head, acked[number] + 2) << "at most the commit that was not acknowledged";
            EXPECT_EQ((*store)->key_rows(session(number)).value().size(), loaded->tail.size());
            EXPECT_EQ(loaded->wake_at, at(static_cast<std::int64_t>(head) - 2));
        }
    }
    EXPECT_EQ(directory.text("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace dormouse::store
