// The speed of commits, and the disk space of a sleeping session. Not one of the tests.
#include "store/sqlite/sqlite_store.h"

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace dormouse::store {
namespace {

class Directory {
public:
    Directory() {
        auto name = (std::filesystem::temp_directory_path() / "dormouse-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) std::abort();
        path_ = name;
    }
    ~Directory() { std::filesystem::remove_all(path_); }
    Directory(Directory const&) = delete;
    Directory& operator=(Directory const&) = delete;

    [[nodiscard]] std::unique_ptr<SqliteStore> open() const {
        auto opened = SqliteStore::open(path_);
        if (!opened) std::abort();
        return std::move(*opened);
    }
    [[nodiscard]] std::uintmax_t file_size() const {
        return std::filesystem::file_size(path_ / "dormouse.db");
    }

private:
    std::filesystem::path path_;
};

SessionId session(std::uint64_t number) {
    auto const low = static_cast<std::uint8_t>(number * 0x9e3779b97f4a7c15U >> 56);
    return SessionId::make(number, {0, 0, 0, 0, 0, low, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
}

// As long as the three appends of a session that was created, was prompted and waits for a tool:
// 785 bytes together.
port::Append append(std::uint64_t number, Seq after) {
    port::Append made;
    made.session = session(number);
    made.after = after;
    made.frame = {
        .first = after + 1, .count = 3, .bytes = "[[\"model_replied\",1795290000000,{\"x\":\""};
    made.frame.bytes += std::string(220, 'x') + "\"}]]";
    if (after == 0)
        made.row = port::SessionRow{.id = made.session,
                                    .project = "default",
                                    .agent = "ops",
                                    .alias = "",
                                    .title = "",
                                    .status = "active",
                                    .created = from_ms(1'795'290'000'000),
                                    .updated = from_ms(1'795'290'000'000)};
    return made;
}

port::Append pausing(std::uint64_t number, Seq after) {
    auto made = append(number, after);
    made.wake_at = from_ms(1'795'376'400'000 + static_cast<std::int64_t>(number));
    made.pending.push_back({.call = 1,
                            .generation = 1,
                            .status = port::PendingStatus::waiting,
                            .tool = "deploy",
                            .created = from_ms(1'795'290'000'000),
                            .timeout = made.wake_at,
                            .paused = after + 3,
                            .settled = 0});
    return made;
}

void must(std::vector<port::AppendResult> const& results) {
    for (auto const& result : results)
        if (!result) std::abort();
}

// Appends to state.range(0) sessions in one transaction.
void commit_batch(benchmark::State& state) {
    Directory const directory;
    auto const store = directory.open();
    auto const size = static_cast<std::uint64_t>(state.range(0));
    Seq head = 0;
    std::vector<port::Append> batch(size);
    for (auto _ : state) {
        for (std::uint64_t i = 0; i < size; ++i)
            batch[i] = head == 0 ? append(i + 1, 0) : pausing(i + 1, head);
        must(store->commit(batch));
        head += 3;
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(commit_batch)->Arg(1)->Arg(32)->Arg(256)->UseRealTime()->Unit(benchmark::kMicrosecond);

// Creates state.range(0) sessions, each with one waiting call.
void sleeping_sessions(benchmark::State& state) {
    auto const count = static_cast<std::uint64_t>(state.range(0));
    for (auto _ : state) {
        Directory const directory;
        auto store = directory.open();
        std::vector<port::Append> batch;
        for (std::uint64_t number = 1; number <= count; ++number) {
            batch.push_back(append(number, 0));
            batch.push_back(append(number, 3));
            batch.push_back(pausing(number, 6));
            if (batch.size() < 256 && number < count) continue;
            must(store->commit(batch));
            batch.clear();
        }
        store.reset();
        state.counters["bytes_per_session"] =
            static_cast<double>(directory.file_size()) / static_cast<double>(count);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sleeping_sessions)
    ->Arg(10'000)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace dormouse::store

BENCHMARK_MAIN();
